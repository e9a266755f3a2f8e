"""API-Bank's tools about users: accounts, passwords, tokens, bank."""

from collections.abc import Mapping
from typing import Any

from wildtool.benchmarks.apibank.tools.state import Tables, ToolFunction, made_up
from wildtool.toolcall.refusals import RefusedCallError, refuse_if

_CODE = 970420
"""The verification code, which is always the same."""
_FIRST, _SECOND = "Forgot Password", "Verification Code"


def _get_user_token(tables: Tables, username: str, password: str) -> Any:
    accounts = tables.own("Account")
    refuse_if(username not in accounts, "The username does not exist.")
    refuse_if(accounts[username]["password"] != password, "The password is incorrect.")
    return {"token": accounts[username]["token"]}


def _check_token(tables: Tables, token: str) -> Any:
    return {"username": tables.user(token)}


def _register_user(tables: Tables, username: str, password: str, email: str) -> Any:
    accounts = tables.own("Account")
    refuse_if(username in accounts, "The username already exists.")
    token = made_up("token", username)[:18]
    accounts[username] = {"password": password, "token": token, "email": email}
    return {"token": token}


def _delete_account(tables: Tables, token: str) -> Any:
    del tables.own("Account")[tables.user(token)]
    return {"status": "success"}


def _modify_password(tables: Tables, token: str, old_password: str, new_password: str) -> Any:
    account = tables.own("Account")[tables.user(token)]
    refuse_if(account["password"] != old_password, "The old password is incorrect.")
    account["password"] = new_password
    return {"status": "success"}


def _forgot_password(
    tables: Tables,
    status: str,
    username: str | None = None,
    email: str | None = None,
    verification_code: int | None = None,
    new_password: str | None = None,
) -> Any:
    accounts = tables.own("Account")
    if status == _FIRST:
        if username is None or email is None:
            raise RefusedCallError("The username and email are required for the first call.")
        refuse_if(username not in accounts, "The username does not exist.")
        refuse_if(accounts[username]["email"] != email, "The email is incorrect.")
        tables.resetting = username
        return _CODE
    refuse_if(status != _SECOND, f"The status is only '{_FIRST}' or '{_SECOND}'.")
    if tables.resetting is None:
        raise RefusedCallError(f"You need to call the API with status '{_FIRST}' at first.")
    is_short = new_password is None or verification_code is None
    refuse_if(is_short, "The new password and verification code are required for the second call.")
    is_wrong = verification_code != _CODE or tables.resetting not in accounts
    refuse_if(is_wrong, "The verification code is incorrect.")
    accounts[tables.resetting]["password"] = new_password
    return "success"


def _open_bank_account(tables: Tables, account: str, password: str, name: str) -> Any:
    # Accounts opened here are not those that balances are asked of, so only this one is known at first.
    opened = tables.own("OpenedAccounts")
    if account == "test" or account in opened:
        return "failed"
    opened[account] = {"password": password, "name": name}
    return "success"


def _query_balance(tables: Tables, token: str) -> Any:
    user, bank = tables.user(token, "The token is incorrect."), tables.own("Bank")
    refuse_if(user not in bank, "The user does not have an account.")
    return bank[user]["balance"]


ACCOUNT_TOOLS: Mapping[str, ToolFunction] = {
    "GetUserToken": _get_user_token,
    "CheckToken": _check_token,
    "RegisterUser": _register_user,
    "DeleteAccount": _delete_account,
    "ModifyPassword": _modify_password,
    "ForgotPassword": _forgot_password,
    "OpenBankAccount": _open_bank_account,
    "QueryBalance": _query_balance,
}
