"""API-Bank's tools about accounts and times: what each call gives after those before it."""

from benchmarks.apibank.tool_calls import ANN, BO, NO_TIME, assert_results


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


def test_a_forgotten_password_is_set_in_two_steps() -> None:
    assert_results(
        ("ForgotPassword", ["x"], "! The status is only 'Forgot Password' or 'Verification Code'."),
        (
            "ForgotPassword",
            ["Verification Code", None, None, 970420, "n"],
            "! You need to call the API with status 'Forgot Password' at first.",
        ),
        (
            "ForgotPassword",
            ["Forgot Password", "ann"],
            "! The username and email are required for the first call.",
        ),
        (
            "ForgotPassword",
            ["Forgot Password", None, "ann@example.org"],
            "! The username and email are required for the first call.",
        ),
        ("ForgotPassword", ["Forgot Password", "cy", "x"], "! The username does not exist."),
        ("ForgotPassword", ["Forgot Password", "ann", "x"], "! The email is incorrect."),
        ("ForgotPassword", ["Forgot Password", "ann", "ann@example.org"], 970420),
        (
            "ForgotPassword",
            ["Verification Code", None, None, 970420],
            "! The new password and verification code are required for the second call.",
        ),
        (
            "ForgotPassword",
            ["Verification Code", None, None, None, "n"],
            "! The new password and verification code are required for the second call.",
        ),
        (
            "ForgotPassword",
            ["Verification Code", None, None, 970421, "n"],
            "! The verification code is incorrect.",
        ),
        ("GetUserToken", ["ann", "n"], "! The password is incorrect."),
        ("ForgotPassword", ["Verification Code", None, None, 970420, "n"], "success"),
        ("GetUserToken", ["ann", "n"], {"token": ANN}),
        ("DeleteAccount", [ANN], {"status": "success"}),
        (
            "ForgotPassword",
            ["Verification Code", None, None, 970420, "m"],
            "! The verification code is incorrect.",
        ),
    )


def test_bank_accounts_are_opened_once() -> None:
    assert_results(
        ("OpenBankAccount", ["test", "x", "y"], "failed"),
        ("OpenBankAccount", ["a", "x", "y"], "success"),
        ("OpenBankAccount", ["a", "x", "y"], "failed"),
        ("QueryBalance", [ANN], 12),
        ("QueryBalance", [BO], "! The user does not have an account."),
        ("QueryBalance", ["x"], "! The token is incorrect."),
    )


def test_an_agenda_belongs_to_its_user() -> None:
    assert_results(
        (
            "AddAgenda",
            [ANN, "Swim", "10:00", "Pool"],
            "! time data '10:00' does not match format '%Y-%m-%d %H:%M:%S'",
        ),
        ("AddAgenda", [ANN, " ", "2023-05-04 07:00:00", "Pool"], "! Content should not be null"),
        ("AddAgenda", ["x", "Swim", "2023-05-04 07:00:00", "Pool"], "! The token is invalid."),
        ("AddAgenda", [ANN, "Swim", "2023-05-04 07:00:00", "Pool"], "success"),
        ("AddAgenda", [ANN, "Run", "2023-05-05 07:00:00", "Park"], "success"),
        (
            "QueryAgenda",
            [ANN, "Swim", "2023-05-09 07:00:00", ""],
            {"content": "Swim", "time": "2023-05-04 07:00:00", "location": "Pool", "username": "ann"},
        ),
        (
            "QueryAgenda",
            [BO, "Swim", "", ""],
            {"content": "Swim", "time": "2023-05-01 10:00:00", "location": "Lake", "username": "bo"},
        ),
        (
            "QueryAgenda",
            [ANN, "", "2023-05-05 07:00:00", "x"],
            {"content": "Run", "time": "2023-05-05 07:00:00", "location": "Park", "username": "ann"},
        ),
        ("QueryAgenda", [ANN, "Fly", "", ""], "! You have no agenda about Fly"),
        (
            "QueryAgenda",
            [ANN, "", "2023-05-09 07:00:00", ""],
            "! You have no agenda at time : 2023-05-09 07:00:00",
        ),
        ("QueryAgenda", [ANN, "", "", ""], "! Error"),
        ("QueryAgenda", [ANN, "Run", "x", ""], NO_TIME),
        ("ModifyAgenda", [ANN, "Run", "2023-05-06 07:00:00", "Hill"], "success"),
        (
            "QueryAgenda",
            [ANN, "Run", "", ""],
            {"content": "Run", "time": "2023-05-06 07:00:00", "location": "Hill", "username": "ann"},
        ),
        ("ModifyAgenda", [ANN, "Jog", "2023-05-06 07:00:00", "Hill"], "success"),
        (
            "QueryAgenda",
            [ANN, "Jog", "", ""],
            {"content": "Jog", "time": "2023-05-06 07:00:00", "location": "Hill", "username": "ann"},
        ),
        ("DeleteAgenda", [ANN, "Fly", "", ""], "! You have no meeting about Fly"),
        ("DeleteAgenda", [ANN, "Swim", "", ""], "success"),
        ("QueryAgenda", [ANN, "Swim", "", ""], "! You have no agenda about Swim"),
        (
            "QueryAgenda",
            [BO, "Swim", "", ""],
            {"content": "Swim", "time": "2023-05-01 10:00:00", "location": "Lake", "username": "bo"},
        ),
    )


def test_reminders_are_found_by_content_or_time() -> None:
    assert_results(
        ("AddReminder", [ANN, "Eat", "x"], NO_TIME),
        ("AddReminder", [ANN, "", "2023-05-04 07:00:00"], "! Content should not be null"),
        ("AddReminder", ["x", "Eat", "2023-05-04 07:00:00"], "! The token is invalid."),
        ("AddReminder", [ANN, "Eat", "2023-05-04 07:00:00"], "success"),
        ("AddReminder", [BO, "Eat", "2023-05-05 07:00:00"], "success"),
        (
            "QueryReminder",
            [ANN, "Eat", "2023-05-01 10:00:00"],
            {"content": "Call home", "time": "2023-05-01 10:00:00", "username": "ann"},
        ),
        (
            "QueryReminder",
            [ANN, "Eat", "2023-05-09 10:00:00"],
            {"content": "Eat", "time": "2023-05-04 07:00:00", "username": "ann"},
        ),
        (
            "QueryReminder",
            [BO, "x", "2023-05-05 07:00:00"],
            {"content": "Eat", "time": "2023-05-05 07:00:00", "username": "bo"},
        ),
        (
            "QueryReminder",
            [ANN, "x", "2023-05-09 07:00:00"],
            "! You have no reminder about x or at time : 2023-05-09 07:00:00",
        ),
        ("QueryReminder", [ANN, "Eat", ""], "! time data '' does not match format '%Y-%m-%d %H:%M:%S'"),
        ("QueryReminder", [ANN, " ", "2023-05-09 07:00:00"], "! Content should not be null"),
        ("ModifyReminder", [ANN, "Eat", "2023-05-08 07:00:00"], "success"),
        (
            "QueryReminder",
            [ANN, "Eat", "2023-05-09 07:00:00"],
            {"content": "Eat", "time": "2023-05-08 07:00:00", "username": "ann"},
        ),
        ("DeleteReminder", [ANN, "Eat", "2023-05-09 07:00:00"], "success"),
        (
            "DeleteReminder",
            [ANN, "Eat", "2023-05-09 07:00:00"],
            "! You have no reminder about Eat or at time : 2023-05-09 07:00:00",
        ),
    )


def test_alarms_are_found_by_time() -> None:
    assert_results(
        ("AddAlarm", [ANN, "x"], NO_TIME),
        ("AddAlarm", ["x", "2023-05-04 07:00:00"], "! The token is invalid."),
        ("AddAlarm", [BO, "2023-05-04 07:00:00"], "success"),
        ("QueryAlarm", [BO, "2023-05-04 07:00:00"], {"time": "2023-05-04 07:00:00", "username": "bo"}),
        (
            "QueryAlarm",
            [ANN, "2023-05-04 07:00:00"],
            "! You have no alarm clock at time : 2023-05-04 07:00:00",
        ),
        ("QueryAlarm", [ANN, "x"], NO_TIME),
        (
            "ModifyAlarm",
            [ANN, "2023-05-04 07:00:00", "2023-05-04 08:00:00"],
            "! You have no agenda at time : 2023-05-04 07:00:00",
        ),
        ("ModifyAlarm", [ANN, "x", "2023-05-04 08:00:00"], NO_TIME),
        ("ModifyAlarm", [ANN, "2023-05-01 07:00:00", "x"], NO_TIME),
        ("ModifyAlarm", [ANN, "2023-05-01 07:00:00", "2023-05-04 08:00:00"], "success"),
        ("QueryAlarm", [ANN, "2023-05-04 08:00:00"], {"time": "2023-05-04 08:00:00", "username": "ann"}),
        (
            "DeleteAlarm",
            [ANN, "2023-05-04 07:00:00"],
            "! You have no alarm clock at time : 2023-05-04 07:00:00",
        ),
        ("DeleteAlarm", [ANN, "2023-05-04 08:00:00"], "success"),
        (
            "QueryAlarm",
            [ANN, "2023-05-04 08:00:00"],
            "! You have no alarm clock at time : 2023-05-04 08:00:00",
        ),
    )


def test_meetings_are_found_by_topic_or_start() -> None:
    assert_results(
        ("AddMeeting", [ANN, "Plan", "x", "2023-05-02 10:00:00", "R", ["Cy"]], NO_TIME),
        ("AddMeeting", [ANN, "Plan", "2023-05-02 10:00:00", "x", "R", ["Cy"]], NO_TIME),
        (
            "AddMeeting",
            [ANN, " ", "2023-05-02 10:00:00", "2023-05-02 10:00:00", "R", ["Cy"]],
            "! Meeting Topic should not be null",
        ),
        (
            "AddMeeting",
            ["x", "Plan", "2023-05-02 10:00:00", "2023-05-02 10:00:00", "R", ["Cy"]],
            "! The token is invalid.",
        ),
        ("AddMeeting", [ANN, "Plan", "2023-05-02 10:00:00", "2023-05-02 11:00:00", "R", ["Cy"]], "success"),
        (
            "QueryMeeting",
            [ANN, "Plan", "", "", "", []],
            {
                "meeting_topic": "Plan",
                "start_time": "2023-05-02 10:00:00",
                "end_time": "2023-05-02 11:00:00",
                "location": "R",
                "attendees": ["Cy"],
                "username": "ann",
            },
        ),
        (
            "QueryMeeting",
            [ANN, "", "2023-05-02 09:00:00", "", "", []],
            {
                "meeting_topic": "Budget",
                "start_time": "2023-05-02 09:00:00",
                "end_time": "2023-05-02 10:00:00",
                "location": "Room 1",
                "attendees": ["Bo"],
                "username": "ann",
            },
        ),
        ("QueryMeeting", [ANN, "Plan", "x", "", "", []], NO_TIME),
        ("QueryMeeting", [ANN, "Plan", "", "x", "", []], NO_TIME),
        (
            "QueryMeeting",
            [ANN, " ", "", "", "", []],
            "! Meeting Topic and start_time should not be null both",
        ),
        ("QueryMeeting", [ANN, "No", "2023-05-02 12:00:00", "", "", []], "! You have no meeting about No"),
        (
            "QueryMeeting",
            [ANN, "", "2023-05-02 12:00:00", "", "", []],
            "! You have no meeting at time : 2023-05-02 12:00:00",
        ),
        ("QueryMeeting", [BO, "Plan", "", "", "", []], "! You have no meeting about Plan"),
        ("QueryMeeting", ["x", "Plan", "", "", "", []], "! The token is invalid."),
        ("QueryMeeting", [ANN, " ", "2023-05-02 12:00:00", "", "", []], "! You have no meeting about  "),
        (
            "ModifyMeeting",
            [ANN, "Plan", "2023-05-03 09:00:00", "2023-05-03 10:00:00", "Q", ["Di"]],
            "success",
        ),
        (
            "QueryMeeting",
            [ANN, "Plan", "", "", "", []],
            {
                "meeting_topic": "Plan",
                "start_time": "2023-05-03 09:00:00",
                "end_time": "2023-05-03 10:00:00",
                "location": "Q",
                "attendees": ["Di"],
                "username": "ann",
            },
        ),
        ("DeleteMeeting", [ANN, "Plan", "", "", "", []], "success"),
        ("DeleteMeeting", [ANN, "Plan", "", "", "", []], "! You have no meeting about Plan"),
    )
