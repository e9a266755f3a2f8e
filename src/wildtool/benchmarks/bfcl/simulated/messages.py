"""The simulated messenger (section 3 of the specification of the classes)."""

from collections.abc import Mapping
from random import Random
from typing import Any

from wildtool.benchmarks.bfcl.simulated.base import ApiState, SimulatedApi, failed
from wildtool.toolcall.refusals import refuse_if

_SEED = 200191


class MessageAPI(SimulatedApi):
    """Users who send messages to each other; the inbox is one list of `{receiver id: text}`."""

    NAME = "MessageAPI"
    DOCUMENTS = "message_api"

    def _set_up(self, scenario: Mapping[str, Any]) -> None:
        self._random = Random(scenario.get("random_seed", _SEED))
        self.state["generated_ids"] = set(self.state["generated_ids"])

    def list_users(self) -> ApiState:
        return {"user_list": list(self.state["user_map"])}

    def get_user_id(self, user: Any) -> ApiState:
        users = self.state["user_map"]
        return {"user_id": users[user]} if user in users else failed(f"user {user!r} not found")

    def message_login(self, user_id: Any) -> ApiState:
        if user_id not in self.state["user_map"].values():
            return {"login_status": False, "message": f"User '{user_id}' not found."}
        self.state["current_user"] = user_id
        return {"login_status": True, "message": f"User '{user_id}' logged in successfully."}

    def message_get_login_status(self) -> ApiState:
        return {"login_status": bool(self.state["current_user"])}

    def send_message(self, receiver_id: Any, message: Any) -> ApiState:
        self._require_login()
        refuse_if(receiver_id not in self.state["user_map"].values(), f"receiver {receiver_id!r} not found")
        used: set[int] = self.state["generated_ids"]
        new_id = self._random.randint(10000, 99999)
        while new_id in used:
            new_id = self._random.randint(10000, 99999)
        used.add(new_id)
        self.state["inbox"].append({receiver_id: message})
        self.state["message_count"] += 1
        return {
            "sent_status": True,
            "message_id": {"new_id": new_id},
            "message": f"Message sent to '{receiver_id}' successfully.",
        }

    def delete_message(self, receiver_id: Any) -> ApiState:
        self._require_login()
        inbox: list[ApiState] = self.state["inbox"]
        sent = [entry for entry in inbox if next(iter(entry)) == receiver_id]
        refuse_if(not sent, f"no message to {receiver_id!r}")
        inbox.remove(sent[-1])  # the first equal one, as the original does
        return {
            "deleted_status": True,
            "receiver_id": receiver_id,
            "message": f"Receiver {receiver_id}'s latest message deleted successfully.",
        }

    def view_messages_sent(self) -> ApiState:
        self._require_login()
        messages: dict[str, list[Any]] = {}
        for receiver, text in self._sent():
            messages.setdefault(receiver, []).append(text)
        return {"messages": messages}

    def add_contact(self, user_name: Any) -> ApiState:
        users = self.state["user_map"]
        refuse_if(user_name in users, f"user {user_name!r} exists already")
        self.state["user_count"] += 1
        user_id = f"USR{self.state['user_count']:03d}"
        refuse_if(user_id in users.values(), f"user id {user_id!r} exists already")
        users[user_name] = user_id
        return {
            "added_status": True,
            "user_id": user_id,
            "message": f"Contact '{user_name}' added successfully.",
        }

    def search_messages(self, keyword: Any) -> ApiState:
        self._require_login()
        word = keyword.lower()
        return {
            "results": [
                {"receiver_id": receiver, "message": text}
                for receiver, text in self._sent()
                if word in text.lower()
            ]
        }

    def get_message_stats(self) -> ApiState:
        self._require_login()
        receivers = {receiver for receiver, _ in self._sent()}
        return {"stats": {"received_count": len(self.state["inbox"]), "total_contacts": len(receivers)}}

    def _require_login(self) -> None:
        refuse_if(not self.state["current_user"], "no user is logged in")

    def _sent(self) -> list[tuple[str, Any]]:
        """Receiver and text of each entry; of one with several receivers the first, as the original reads it."""
        return [next(iter(entry.items())) for entry in self.state["inbox"]]
