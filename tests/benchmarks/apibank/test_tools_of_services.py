"""API-Bank's tools about health, home and look-ups: what each call gives after those before it."""

from benchmarks.apibank.tool_calls import NO_DATE, NO_TIME, assert_results


def test_appointments_are_one_a_day_and_patient() -> None:
    assert_results(
        (
            "AppointmentRegistration",
            [" ", "2023-05-03", "Dr Ox"],
            "! Patient name or doctor name cannot be empty.",
        ),
        (
            "AppointmentRegistration",
            ["Ann", "2023-05-03", " "],
            "! Patient name or doctor name cannot be empty.",
        ),
        ("AppointmentRegistration", ["Ann", "x", "Dr Ox"], NO_DATE),
        (
            "AppointmentRegistration",
            ["Ann ", "2023-05-03", " Dr Ox"],
            "! This appointment has already been registered.",
        ),
        (
            "AppointmentRegistration",
            ["Ann", "2023-05-03", "Dr No"],
            "! This patient has already been registered in this day.",
        ),
        ("AppointmentRegistration", ["Ann", "2023-05-04", "Dr Ox"], "97342857"),
        ("ModifyRegistration", ["97342857", "2023-05-20"], "success"),
        ("AppointmentRegistration", ["Ann", "2023-05-04", "Dr Ox"], "97342858"),
        ("AppointmentRegistration", ["Bo", " 2023-05-03", "Dr Ox"], "49856728"),
        (
            "QueryRegistration",
            [" Ann", "2023-05-03"],
            {"100": {"patient_name": "Ann", "date": "2023-05-03", "doctor_name": "Dr Ox"}},
        ),
        ("QueryRegistration", ["Ann", "2023-05-09"], "! No appointments found."),
        (
            "QueryRegistration",
            ["Bo", "2023-05-03"],
            {"49856728": {"patient_name": "Bo", "date": "2023-05-03", "doctor_name": "Dr Ox"}},
        ),
        ("ModifyRegistration", ["9"], "! The appointment ID does not exist."),
        ("ModifyRegistration", ["100"], "! Fail because no modification is made."),
        ("ModifyRegistration", ["100", None, " "], "! Fail because the doctor name is empty."),
        ("ModifyRegistration", ["100", None, " Dr Ox"], "! Fail because doctor is not changed."),
        ("ModifyRegistration", ["100", "2023-05-03"], "! Fail because date is not changed."),
        ("ModifyRegistration", ["100", "x"], NO_DATE),
        ("ModifyRegistration", ["100", "2023-05-03", "Dr Ox"], "! Fail because no modification is made."),
        ("ModifyRegistration", ["100", "2023-05-04", "Dr Ox"], "! Fail because doctor is not changed."),
        ("ModifyRegistration", ["100", "2023-05-03", "Dr No"], "! Fail because date is not changed."),
        ("ModifyRegistration", [" 100 ", None, "Dr No"], "success"),
        ("ModifyRegistration", ["100", "2023-05-05", "Dr Yo"], "success"),
        (
            "QueryRegistration",
            ["Ann", "2023-05-05"],
            {"100": {"patient_name": "Ann", "date": "2023-05-05", "doctor_name": "Dr Yo"}},
        ),
        ("CancelRegistration", ["9"], "! The appointment ID is incorrect."),
        ("CancelRegistration", [" 100 "], "success"),
        ("CancelRegistration", ["100"], "! The appointment ID is incorrect."),
    )


def test_health_data_are_kept_by_time() -> None:
    assert_results(
        ("RecordHealthData", [" ", "2023-05-03 08:00:00"], "! The user id cannot be empty."),
        ("RecordHealthData", ["a1", "x"], NO_TIME),
        ("RecordHealthData", ["a1", "2023-05-03 08:00:00"], "! The health data cannot be empty."),
        ("RecordHealthData", ["a1", "2023-05-03 08:00:00", []], "! The health data cannot be empty."),
        (
            "RecordHealthData",
            ["a1", "2023-05-03 08:00:00", [{"value": "1"}]],
            "! The health data has invalid format.",
        ),
        (
            "RecordHealthData",
            ["a1", "2023-05-03 08:00:00", [{"name": "pulse", "value": "1"}, {"name": "pulse", "value": "2"}]],
            "! The health data cannot contain duplicate items.",
        ),
        (
            "RecordHealthData",
            [
                "a1 ",
                "2023-05-03 08:00:00",
                [{"name": "pulse", "value": "70"}, {"name": "weight", "value": "50"}],
            ],
            "success",
        ),
        ("RecordHealthData", ["A1", "2023-05-03 08:00:00 ", [{"name": "pulse", "value": "71"}]], "success"),
        ("RecordHealthData", ["B2", "2023-05-03 08:00:00", [{"name": "pulse", "value": "80"}]], "success"),
        (
            "QueryHealthData",
            ["", "2023-05-01 08:00:00", "2023-05-03 08:00:00"],
            "! The user id cannot be empty.",
        ),
        (
            "QueryHealthData",
            ["a1", "x", "y"],
            f"{NO_TIME}; {NO_TIME[2:].replace(repr('x'), repr('y'))}",
        ),
        ("QueryHealthData", ["a1", "x", "2023-05-03 08:00:00"], NO_TIME),
        (
            "QueryHealthData",
            ["a1", "2023-05-03 08:00:00", "2023-05-02 08:00:00"],
            "! The start time cannot be later than the end time.",
        ),
        (
            "QueryHealthData",
            ["zz", "2023-05-01 08:00:00", "2023-05-03 08:00:00"],
            "! The user id does not exist.",
        ),
        (
            "QueryHealthData",
            ["a1", "2023-05-01 08:00:00", "2023-05-03 08:00:00"],
            [
                {"time": "2023-05-01 08:00:00", "pulse": "60"},
                {"time": "2023-05-02 08:00:00", "pulse": "61"},
                {"time": "2023-05-03 08:00:00", "pulse": "71", "weight": "50"},
            ],
        ),
        (
            "QueryHealthData",
            ["a1", "2023-05-01 08:00:01", "2023-05-03 07:59:59"],
            [{"time": "2023-05-02 08:00:00", "pulse": "61"}],
        ),
        (
            "QueryHealthData",
            ["a1", "2023-05-02 08:00:00", "2023-05-02 08:00:00"],
            [{"time": "2023-05-02 08:00:00", "pulse": "61"}],
        ),
        (
            "QueryHealthData",
            ["a1", "2023-05-09 08:00:00", "2023-05-10 08:00:00"],
            "! There is no health data in the given time span.",
        ),
        (
            "QueryHealthData",
            ["b2", "2023-05-01 08:00:00", "2023-05-03 08:00:00"],
            [{"time": "2023-05-03 08:00:00", "pulse": "80"}],
        ),
    )


def test_symptoms_name_illnesses() -> None:
    assert_results(
        ("EmergencyKnowledge", [" Cough"], [{"name": "cold", "aid": "tea"}, {"name": "flu", "aid": "rest"}]),
        (
            "SymptomSearch",
            ["cough"],
            [{"name": "cold", "description": "common"}, {"name": "flu", "description": "worse"}],
        ),
        ("SymptomSearch", [" "], "! The symptom cannot be empty."),
        ("EmergencyKnowledge", ["x"], "! The symptom does not exist."),
    )


def test_scenes_have_devices_by_name() -> None:
    assert_results(
        ("AddScene", [" ", []], "! Scene name cannot be empty."),
        ("AddScene", ["evening", []], "! Scene name already exists."),
        ("AddScene", ["morning", [{"name": "b"}]], "! Invalid device format."),
        (
            "AddScene",
            [
                " Morning",
                [{"name": " Radio ", "description": " on "}, {"name": "Lamp", "description": "off", "x": 1}],
            ],
            "success",
        ),
        ("AddScene", ["morning", []], "! Scene name already exists."),
        (
            "QueryScene",
            ["MORNING "],
            [{"name": "lamp", "description": "off", "x": 1}, {"name": "radio", "description": "on"}],
        ),
        ("QueryScene", ["x"], "! Scene not found."),
        ("QueryScene", [" "], "! Scene name cannot be empty."),
        ("ModifyScene", [" ", []], "! Scene name cannot be empty."),
        ("ModifyScene", ["x", []], "! The scene does not exist."),
        (
            "ModifyScene",
            ["evening", [{"name": "b", "description": "c"}, {"name": "B ", "description": "c"}]],
            "! Device name cannot be duplicated.",
        ),
        ("ModifyScene", ["Evening ", [{"name": "b", "description": "c"}]], "success"),
        ("QueryScene", ["evening"], [{"name": "b", "description": "c"}]),
        ("DeleteScene", ["x"], "! The scene does not exist."),
        ("DeleteScene", [" Evening"], "success"),
        ("QueryScene", ["evening"], "! Scene not found."),
    )


def test_switches_are_set_and_cancelled_by_time() -> None:
    assert_results(
        ("TimedSwitch", [" ", "2023-05-03 08:00:00", True], "! Name cannot be empty."),
        ("TimedSwitch", ["Lamp", "x", True], NO_TIME),
        ("TimedSwitch", [" Lamp", "2023-05-03 08:00:00", True], "success"),
        ("TimedSwitch", ["lamp", "2023-05-03 08:00:00", False], "success"),
        ("TimedSwitch", ["lamp", "2023-05-03 09:00:00", True], "success"),
        ("CancelTimedSwitch", [" ", "2023-05-03 08:00:00"], "! name cannot be empty."),
        ("CancelTimedSwitch", ["lamp", "x"], NO_TIME),
        ("CancelTimedSwitch", ["x", "2023-05-03 08:00:00"], "! device name does not exist."),
        ("CancelTimedSwitch", ["lamp", "2023-05-03 10:00:00"], "! time does not exist."),
        ("CancelTimedSwitch", ["LAMP ", "2023-05-03 08:00:00"], "success"),
        ("CancelTimedSwitch", ["lamp", "2023-05-03 08:00:00"], "! time does not exist."),
        ("CancelTimedSwitch", ["lamp", "2023-05-03 09:00:00"], "success"),
    )


def test_a_hotel_has_one_guest_at_a_time() -> None:
    assert_results(
        ("BookHotel", ["Inn", "x", "2023-06-12", 1, 1, 0], NO_DATE),
        ("BookHotel", ["Inn", "2023-06-12", "x", 1, 3, 0], NO_DATE),
        (
            "BookHotel",
            ["Inn", "2023-06-13", "2023-06-14", 1, 3, 0],
            "! The number of adults is greater than 2. Two rooms are ordered.",
        ),
        ("BookHotel", ["Inn", "2023-06-13", "2023-06-14", 1, 2, 0], "2"),
        ("BookHotel", ["Inn", "2023-06-15", "2023-06-16", 2, 3, 0], "3"),
        ("BookHotel", ["Inn", "2023-06-12", "2023-06-13", 1, 1, 0], "4"),
        ("BookHotel", ["Inn", "2023-06-09", "2023-06-10", 1, 1, 0], "5"),
        ("BookHotel", ["Inn", "2023-06-10", "2023-06-15", 1, 1, 0], "! The room is not available."),
        ("BookHotel", ["Inn", "2023-06-11", "2023-06-15", 1, 1, 0], "! The room is not available."),
        ("BookHotel", ["Inn", "2023-06-08", "2023-06-12", 1, 1, 0], "! The room is not available."),
        ("BookHotel", ["Inn", "2023-06-08", "2023-06-11", 1, 1, 0], "! The room is not available."),
        ("BookHotel", ["Inn", "2023-06-11", "2023-06-12", 1, 1, 0], "! The room is not available."),
        ("BookHotel", ["Spa", "2023-06-10", "2023-06-12", 1, 1, 0], "6"),
        ("BookHotel", ["Inn", "2023-06-01", "2023-06-30", 1, 1, 0], "7"),
    )


def test_mail_needs_an_address_and_words() -> None:
    assert_results(
        ("SendEmail", ["a@x.org", "s", "c"], "! Email address of the receiver is invalid."),
        ("SendEmail", [" ann@x.org ", "s", "c"], "success"),
        ("SendEmail", ["a.b@x.org", "s", "c"], "success"),
        ("SendEmail", ["ann@x", "s", "c"], "! Email address of the receiver is invalid."),
        ("SendEmail", ["ann@x.orgs", "s", "c"], "! Email address of the receiver is invalid."),
        ("SendEmail", ["ann@x.org", " ", "c"], "! Subject cannot be empty."),
        ("SendEmail", ["ann@x.org", "s", " "], "! Content cannot be empty."),
    )


def test_the_calculator_goes_from_the_left() -> None:
    assert_results(
        ("Calculator", ["2+3*4-6/2"], 11.0),
        ("Calculator", ["8-3-2"], 3.0),
        ("Calculator", ["8/2/2"], 2.0),
        ("Calculator", ["(1+2)*3"], 9.0),
        ("Calculator", ["2*(3+4)-(1)"], 13.0),
        ("Calculator", ["1+"], "! invalid formula"),
        ("Calculator", ["+1"], "! invalid formula"),
        ("Calculator", ["1"], "! invalid formula"),
        ("Calculator", ["1+2a"], "! invalid formula"),
        ("Calculator", [""], "! invalid formula"),
        ("Calculator", ["(1+2"], "! invalid formula"),
        ("Calculator", ["1+2)"], "! invalid formula"),
        ("Calculator", ["((1))+1"], "! invalid formula"),
        ("Calculator", ["()+1"], "! invalid formula"),
        ("Calculator", ["1 2+3"], 15.0),
        ("Calculator", ["*"], "! invalid formula"),
        ("Calculator", ["1/0"], "! float division by zero"),
        ("Calculator", ["1-2*3+4"], -1.0),
        ("Calculator", ["(1+2)(3)"], "! invalid formula"),
        ("Calculator", ["(1-0)(2)(3)"], "! invalid formula"),
        ("Calculator", ["٣+1"], "! invalid formula"),
    )


def test_look_ups_need_what_is_known() -> None:
    assert_results(
        ("QueryStock", [" abc", "2022-01-05"], 12.5),
        ("QueryStock", [" ", "2022-01-05"], "! The stock code cannot be empty."),
        ("QueryStock", ["ABC", "x"], NO_DATE),
        ("QueryStock", ["X", "2022-01-05"], "! The stock code does not exist."),
        ("QueryStock", ["ABC", "2022-01-06"], "! The stock price of this date is not maintained."),
        ("QueryStock", ["ABC", "22-01-05"], "! The stock price of this date is not maintained."),
        (
            "QueryHistoryToday",
            ["04-21"],
            ["Title: Rome, Date: 753 BC, Description: It is founded.", "Title: A, Date: B, Description: C"],
        ),
        (
            "QueryHistoryToday",
            ["2023-04-21"],
            ["Title: Rome, Date: 753 BC, Description: It is founded.", "Title: A, Date: B, Description: C"],
        ),
        (
            "QueryHistoryToday",
            [" 4-21 "],
            ["Title: Rome, Date: 753 BC, Description: It is founded.", "Title: A, Date: B, Description: C"],
        ),
        ("QueryHistoryToday", ["04-22"], "! The date is not in the database."),
        ("QueryHistoryToday", ["x"], "! time data 'x' does not match format '%m-%d'"),
        ("DocumentQA", ["u.txt", " "], "! The question is empty."),
        ("DocumentQA", ["x", "?"], "! The document of this url failed to be processed."),
        ("DocumentQA", [" u.txt", "?"], "The question is too difficult to answer."),
        ("ImageCaption", [" a.jpg"], "a cat"),
        ("ImageCaption", ["b.png"], "a dog"),
        ("ImageCaption", ["c.jpeg"], "a cow"),
        ("ImageCaption", ["d.gif"], "! The url should end with .jpg, .jpeg or .png."),
        ("ImageCaption", ["e.jpg"], "! The image of this url failed to be processed."),
        ("SpeechRecognition", ["a.wav "], "hello"),
        ("SpeechRecognition", ["b.mp3"], "! The url should end with .wav."),
        ("SpeechRecognition", ["c.wav"], "! The audio of this url failed to be processed."),
        ("Wiki", [" Tide_Table"], {"url": "w", "summary": "s"}),
        ("Wiki", ["x"], "! Keyword not found."),
        ("GetToday", [], "2023-03-31"),
        ("PlayMusic", [" The Sea "], "music://the sea"),
        ("PlayMusic", [" "], "! The music name cannot be empty."),
        ("Wiki", [], "! Wiki.call() missing 1 required positional argument: 'keyword'"),
        ("PlayMusic", [5], "! 'int' object has no attribute 'strip'"),
        ("Translate", ["x"], "! no answer of Translate to this input is recorded"),
        ("Dictionary", ["x"], "! no answer of Dictionary to this input is recorded"),
    )
