"""API-Bank's tools about accounts and times: what each call gives after those before it."""

from benchmarks.apibank.tool_calls import ANN, BO, assert_results


def test_accounts_are_opened_and_closed() -> None:
    assert_results(
        ("GetUserToken", ["ann", "pw"], {"token": ANN}),
        ("GetUserToken", ["ann", "qw"], "! The password is incorrect."),
        ("GetUserToken", ["cy", "pw"], "! The username does not exist."),
        ("CheckToken", [BO], {"username": "bo"}),
        ("CheckToken", ["x"], "! The token is invalid."),
        ("RegisterUser", ["ann", "x", "y"], "! The username already exists."),
        ("RegisterUser", ["cy", "x", "c@x.org"], {"token": "e98a557700f084e5be"}),
        ("GetUserToken", ["cy", "x"], {"token": "e98a557700f084e5be"}),
        ("ForgotPassword", ["Forgot Password", "cy", "c@x.org"], 970420),
        ("ModifyPassword", [ANN, "x", "new"], "! The old password is incorrect."),
        ("ModifyPassword", [ANN, "pw", "new"], {"status": "success"}),
        ("GetUserToken", ["ann", "new"], {"token": ANN}),
        ("DeleteAccount", [ANN], {"status": "success"}),
        ("DeleteAccount", [ANN], "! The token is invalid."),
        ("CheckToken", [ANN], "! The token is invalid."),
        ("CheckToken", [BO], {"username": "bo"}),
    )
