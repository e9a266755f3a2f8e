"""A program that is an agent: it speaks the protocol of the agent whose name it has, and plays through the doors.

What the user says after `!` makes it misbehave.
"""

import json
import os
import socket
import subprocess
import sys
import time
import tomllib
import urllib.request
from pathlib import Path
from typing import Any

NAME = Path(sys.argv[0]).name


class EndpointError(Exception):
    """The model door answered an error."""


class OddEndError(Exception):
    """A turn ends for a reason of which no client knows."""


def ask(url: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
        return json.loads(answer.read())


class Mind:
    """One conversation."""

    def __init__(self, doors: str, model: str) -> None:
        self.doors, self.model = doors, model
        self.messages: list[dict[str, Any]] = []
        self.tools: list[dict[str, Any]] = []
        self.server: dict[str, Any] = {"url": f"{doors}/mcp"}
        """Where its tools are, as ACP says it."""
        self.started: subprocess.Popen[bytes] | None = None

    def connect(self) -> None:
        if "command" in self.server:
            words = [self.server["command"], *self.server["args"]]
            variables = {each["name"]: each["value"] for each in self.server["env"]}
            pipe = subprocess.PIPE
            self.started = subprocess.Popen(words, stdin=pipe, stdout=pipe, env=os.environ | variables)
        listed = self.ask_server("tools/list", {})["tools"]
        self.tools = [
            {
                "type": "function",
                "function": {
                    "name": tool["name"],
                    "description": tool["description"],
                    "parameters": tool["inputSchema"],
                },
            }
            for tool in listed
        ]

    def turn(self, text: str) -> str:
        """The last text of a turn."""
        if text.startswith("!"):
            return misbehave(*text[1:].split())
        if text.strip() == "/help":
            return f"said {text}"
        if not self.tools:
            self.connect()
        self.messages.append({"role": "user", "content": text})
        while True:
            body = {"model": self.model, "messages": self.messages, "tools": self.tools}
            message = ask(f"{self.doors}/v1/chat/completions", body)["choices"][0]["message"]
            self.messages.append(message)
            calls = message.get("tool_calls") or []
            if not calls:
                return str(message.get("content") or "")
            self.messages += [self.execute(call) for call in calls]

    def execute(self, call: dict[str, Any]) -> dict[str, Any]:
        params = {
            "name": call["function"]["name"],
            "arguments": json.loads(call["function"]["arguments"]),
            "_meta": {"id": call["id"]},
        }
        result = self.ask_server("tools/call", params)
        return {"role": "tool", "tool_call_id": call["id"], "content": result["content"][0]["text"]}

    def ask_server(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        if self.started is None:
            return ask(self.server["url"], message)["result"]
        assert self.started.stdin is not None
        assert self.started.stdout is not None
        self.started.stdin.write(json.dumps(message).encode() + b"\n")
        self.started.stdin.flush()
        return json.loads(self.started.stdout.readline())["result"]


def misbehave(what: str, *words: str) -> str:
    match what:
        case "crash":
            sys.exit("the agent's last words")
        case "hang":
            report_and_wait()
        case "flood":
            while True:
                os.write(1, b"x" * 2**20)
        case "chatter":
            for _ in range(64):
                os.write(2, b"noise\n" * 2**14)
            sys.exit("words after the noise")
        case "error":
            raise EndpointError("the endpoint is down")
        case "odd":
            raise OddEndError
        case "leave":
            return str(subprocess.Popen(["sleep", "600"], start_new_session=True).pid)
        case "say":
            return " ".join(words)
        case "break":
            return "one\u2028line"
        case "variables":
            return json.dumps(dict(os.environ))
        case "read":
            return json.dumps({path: can_read(path) for path in words})
        case "write":
            return json.dumps({path: can_write(path) for path in words})
        case "connect":
            return str(can_connect(int(words[0])))
        case "date":
            return time.strftime("%Y-%m-%d")
    return ""


def report_and_wait() -> None:
    """Starts a process in a session of its own and never answers. Both keep a pipe open, so that its end shows theirs."""
    with Path("alive").open("w") as alive:
        subprocess.Popen(["sleep", "600"], start_new_session=True, pass_fds=(alive.fileno(),))
        print("up", file=alive, flush=True)
        time.sleep(600)


def can_read(path: str) -> bool:
    try:
        Path(path).read_bytes()
    except OSError:
        return False
    return True


def can_write(path: str) -> bool:
    try:
        Path(path).write_text("x")
    except OSError:
        return False
    return True


def can_connect(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 5).close()
    except OSError:
        return False
    return True


def write(message: dict[str, Any]) -> None:
    # U+2028 as it is, which is no end of a line in JSON.
    sys.stdout.buffer.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
    sys.stdout.buffer.flush()


def read() -> dict[str, Any]:
    line = sys.stdin.buffer.readline()
    if not line:
        sys.exit()
    return json.loads(line)


def stream_json(mind: Mind) -> None:
    """As Claude Code. A model named `no-server` is one whose tool server has failed."""
    state = "failed" if mind.model == "no-server" else "connected"
    while True:
        message = read()
        if message["type"] == "control_request":
            servers = {"mcpServers": [{"name": "wt", "status": state}]}
            answer = {"subtype": "success", "request_id": message["request_id"], "response": servers}
            if mind.model == "no-idea":
                answer |= {"subtype": "error", "error": "no idea"}
            write({"type": "control_response", "response": answer})
            continue
        result = {"type": "result", "subtype": "success", "is_error": False}
        try:
            write({**result, "result": mind.turn(message["message"]["content"])})
        except EndpointError as error:
            write({**result, "is_error": True, "result": f"API Error: {error}"})
        except OddEndError:
            write({**result, "subtype": "odd", "result": "an answer"})


def app_server(mind: Mind) -> None:
    """As Codex."""
    while True:
        message = read()
        method, answer = message["method"], {"jsonrpc": "2.0", "id": message.get("id")}
        if method == "thread/start" and mind.model == "no-server":
            write({**answer, "error": {"code": -32603, "message": "required MCP servers failed: wt"}})
        elif method == "thread/start":
            write({**answer, "result": {"thread": {} if mind.model == "no-idea" else {"id": "t"}}})
        elif method == "turn/start":
            write({**answer, "result": {}})
            turn: dict[str, Any] = {"status": "completed"}
            try:
                text = mind.turn(message["params"]["input"][0]["text"])
                item = {"type": "agentMessage", "text": text}
                write({"jsonrpc": "2.0", "method": "item/completed", "params": {"item": item}})
            except EndpointError as error:
                info = {"responseTooManyFailedAttempts": {"httpStatusCode": 500}}
                turn = {"status": "failed", "error": {"message": str(error), "codexErrorInfo": info}}
            except OddEndError:
                turn = {"status": "odd"}
            write({"jsonrpc": "2.0", "method": "turn/completed", "params": {"turn": turn}})
        elif "id" in message:
            write({**answer, "result": {}})


def rpc(mind: Mind) -> None:
    """As pi."""
    if mind.model == "no-server":
        sys.exit("the extension has no server")
    while True:
        message = read()
        has_none = mind.model == "no-idea"
        write(
            {
                "type": "response",
                "id": message["id"],
                "success": not has_none,
                "error": has_none and "no idea",
            }
        )
        if message["type"] != "prompt":
            continue
        said: dict[str, Any] = {"role": "assistant", "stopReason": "stop", "content": []}
        try:
            said["content"] = [{"type": "text", "text": mind.turn(message["message"])}]
        except EndpointError as error:
            said |= {"stopReason": "error", "errorMessage": str(error)}
        except OddEndError:
            said |= {"stopReason": "odd", "content": [{"type": "text", "text": "an answer"}]}
        write({"type": "message_end", "message": said})
        write({"type": "agent_end"})


def acp(mind: Mind) -> None:
    """As Gemini CLI. `someones-acp` takes no server over HTTP, but starts one, and has its doors in variables."""
    question = 0
    while True:
        message = read()
        answer, params = {"jsonrpc": "2.0", "id": message.get("id")}, message.get("params", {})
        match message["method"]:
            case "initialize":
                offered = {"mcpCapabilities": {"http": NAME == "gemini"}}
                write({**answer, "result": {"protocolVersion": 1, "agentCapabilities": offered}})
            case "session/new":
                if mind.model == "no-server":
                    write({**answer, "error": {"code": -32603, "message": "the server is not there"}})
                    continue
                mind.server = params["mcpServers"][0]
                if NAME == "gemini":
                    mind.doors = mind.server["url"].removesuffix("/mcp")
                write({**answer, "result": {} if mind.model == "no-idea" else {"sessionId": "s"}})
            case "session/prompt":
                text = params["prompt"][0]["text"]
                if text.startswith("!may "):
                    question += 1
                    text = f"!say {may(text.removeprefix('!may '), question)}"
                try:
                    said = mind.turn(text)
                except EndpointError as error:
                    write({**answer, "error": {"code": 500, "message": str(error)}})
                    continue
                except OddEndError:
                    write({**answer, "result": {"stopReason": "odd"}})
                    continue
                update("agent_message_chunk", content={"type": "text", "text": "before a call"})
                update("tool_call", title="a call")
                update("agent_message_chunk", content={"type": "text", "text": said})
                write({**answer, "result": {"stopReason": "end_turn"}})


def update(kind: str, **more: Any) -> None:
    params = {"sessionId": "s", "update": {"sessionUpdate": kind, **more}}
    write({"jsonrpc": "2.0", "method": "session/update", "params": params})


def may(call: str, question: int) -> str:
    """What the user's side chooses when it is asked for permission. Args: call: kind and title."""
    kind, _, title = call.partition(" ")
    options = [{"optionId": name, "kind": f"{name}_once", "name": name} for name in ("reject", "allow")]
    params = {
        "sessionId": "s",
        "toolCall": {"toolCallId": "1", "kind": kind, "title": title},
        "options": options,
    }
    write({"jsonrpc": "2.0", "id": f"p{question}", "method": "session/request_permission", "params": params})
    return read()["result"]["outcome"]["optionId"]


def once(mind: Mind, prompt: str) -> None:
    """A program for each turn, which keeps what was said in its home."""
    kept = Path(os.environ["HOME"], "messages.json")
    if kept.exists():
        mind.messages = json.loads(kept.read_text())
    sys.stdout.buffer.write(mind.turn(prompt).encode())
    kept.write_text(json.dumps(mind.messages))


def doors() -> str:
    """Where the doors are, as the agent of this name is told."""
    variables = os.environ
    match NAME:
        case "claude":
            return variables["ANTHROPIC_BASE_URL"]
        case "codex":
            config = tomllib.loads(Path(variables["CODEX_HOME"], "config.toml").read_text())
            return config["mcp_servers"]["wt"]["url"].removesuffix("/mcp")
        case _:
            return variables.get("WILDTOOL_MCP_URL", "").removesuffix("/mcp")


def model() -> str:
    words = sys.argv
    for option in ("--model", "-m"):
        if option in words:
            return words[words.index(option) + 1]
    if NAME == "codex":
        return tomllib.loads(Path(os.environ["CODEX_HOME"], "config.toml").read_text())["model"]
    return os.environ.get("WILDTOOL_MODEL", "")


if __name__ == "__main__":
    speaking = {"claude": stream_json, "codex": app_server, "pi": rpc, "gemini": acp, "someones-acp": acp}
    if NAME in speaking:
        speaking[NAME](Mind(doors(), model()))
    else:
        once(Mind(doors(), model()), sys.argv[1])
