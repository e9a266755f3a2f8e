"""API-Bank's tools about times: agenda, reminders, alarms, meetings. Every record belongs to the user of a token."""

from collections.abc import Mapping
from typing import Any

from wildtool.benchmarks.apibank.tools.state import Table, Tables, ToolError, ToolFunction, check_time


def _find(table: Table, user: str, **wanted: Any) -> str | None:
    """Key of the first record of a user in which any of the fields has the wanted value."""
    for key, record in table.items():
        if record["username"] == user and any(record.get(name) == value for name, value in wanted.items()):
            return key
    return None


def _add(table: Table, record: Table) -> str:
    number = len(table) + 1
    while str(number) in table:
        number += 1
    table[str(number)] = record
    return "success"


def _without(topic: str, about: str, time: str) -> ToolError:
    """What agenda and meeting tools say where there is no such record."""
    if about:
        return ToolError(f"You have no {topic} about {about}")
    return ToolError(f"You have no {topic} at time : {time}" if time else "Error")


# Agenda ----------------------------------------------------------------------------------------------


def _agenda_key(tables: Tables, token: str, content: str, time: str, topic: str = "agenda") -> str:
    if time:
        check_time(time)
    key = _find(tables.own("Agenda"), tables.user(token), content=content, time=time)
    if key is None:
        raise _without(topic, content, time)
    return key


def _add_agenda(tables: Tables, token: str, content: str, time: str, location: str) -> Any:
    check_time(time)
    if not content.strip():
        raise ToolError("Content should not be null")
    user = tables.user(token)
    record = {"content": content, "time": time, "location": location, "username": user}
    return _add(tables.own("Agenda"), record)


def _modify_agenda(tables: Tables, token: str, content: str, time: str, location: str) -> Any:
    key = _agenda_key(tables, token, content, time)
    tables.own("Agenda")[key] |= {"content": content, "time": time, "location": location}
    return "success"


def _query_agenda(tables: Tables, token: str, content: str, time: str, location: str) -> Any:
    return tables.own("Agenda")[_agenda_key(tables, token, content, time)]


def _delete_agenda(tables: Tables, token: str, content: str, time: str, location: str) -> Any:
    del tables.own("Agenda")[_agenda_key(tables, token, content, time, "meeting")]
    return "success"


# Reminders -------------------------------------------------------------------------------------------


def _reminder_key(tables: Tables, token: str, content: str, time: str) -> str:
    check_time(time)
    if not content.strip():
        raise ToolError("Content should not be null")
    key = _find(tables.own("Reminder"), tables.user(token), content=content, time=time)
    if key is None:
        raise ToolError(f"You have no reminder about {content} or at time : {time}")
    return key


def _add_reminder(tables: Tables, token: str, content: str, time: str) -> Any:
    check_time(time)
    if not content.strip():
        raise ToolError("Content should not be null")
    record = {"content": content, "time": time, "username": tables.user(token)}
    return _add(tables.own("Reminder"), record)


def _modify_reminder(tables: Tables, token: str, content: str, time: str) -> Any:
    key = _reminder_key(tables, token, content, time)
    tables.own("Reminder")[key] |= {"content": content, "time": time}
    return "success"


def _query_reminder(tables: Tables, token: str, content: str, time: str) -> Any:
    return tables.own("Reminder")[_reminder_key(tables, token, content, time)]


def _delete_reminder(tables: Tables, token: str, content: str, time: str) -> Any:
    del tables.own("Reminder")[_reminder_key(tables, token, content, time)]
    return "success"


# Alarms ----------------------------------------------------------------------------------------------


def _alarm_key(tables: Tables, token: str, time: str, topic: str = "alarm clock") -> str:
    check_time(time)
    key = _find(tables.own("Alarm"), tables.user(token), time=time)
    if key is None:
        raise ToolError(f"You have no {topic} at time : {time}")
    return key


def _add_alarm(tables: Tables, token: str, time: str) -> Any:
    check_time(time)
    return _add(tables.own("Alarm"), {"time": time, "username": tables.user(token)})


def _modify_alarm(tables: Tables, token: str, from_time: str, to_time: str) -> Any:
    check_time(from_time)
    check_time(to_time)
    tables.own("Alarm")[_alarm_key(tables, token, from_time, "agenda")]["time"] = to_time
    return "success"


def _query_alarm(tables: Tables, token: str, time: str) -> Any:
    return tables.own("Alarm")[_alarm_key(tables, token, time)]


def _delete_alarm(tables: Tables, token: str, time: str) -> Any:
    del tables.own("Alarm")[_alarm_key(tables, token, time)]
    return "success"


# Meetings --------------------------------------------------------------------------------------------


def _meeting_key(tables: Tables, token: str, topic: str, start_time: str, end_time: str) -> str:
    for time in (start_time, end_time):
        if time:
            check_time(time)
    if not topic.strip() and not start_time:
        raise ToolError("Meeting Topic and start_time should not be null both")
    user = tables.user(token)
    key = _find(tables.own("Meeting"), user, meeting_topic=topic, start_time=start_time)
    if key is None:
        raise _without("meeting", topic, start_time)
    return key


def _add_meeting(
    tables: Tables,
    token: str,
    meeting_topic: str,
    start_time: str,
    end_time: str,
    location: str,
    attendees: Any,
) -> Any:
    check_time(start_time)
    check_time(end_time)
    if not meeting_topic.strip():
        raise ToolError("Meeting Topic should not be null")
    record = {
        "meeting_topic": meeting_topic,
        "start_time": start_time,
        "end_time": end_time,
        "location": location,
        "attendees": attendees,
        "username": tables.user(token),
    }
    return _add(tables.own("Meeting"), record)


def _modify_meeting(
    tables: Tables,
    token: str,
    meeting_topic: str,
    start_time: str,
    end_time: str,
    location: str,
    attendees: Any,
) -> Any:
    key = _meeting_key(tables, token, meeting_topic, start_time, end_time)
    tables.own("Meeting")[key] |= {
        "meeting_topic": meeting_topic,
        "start_time": start_time,
        "end_time": end_time,
        "location": location,
        "attendees": attendees,
    }
    return "success"


def _query_meeting(
    tables: Tables,
    token: str,
    meeting_topic: str,
    start_time: str,
    end_time: str,
    location: str,
    attendees: Any,
) -> Any:
    return tables.own("Meeting")[_meeting_key(tables, token, meeting_topic, start_time, end_time)]


def _delete_meeting(
    tables: Tables,
    token: str,
    meeting_topic: str,
    start_time: str,
    end_time: str,
    location: str,
    attendees: Any,
) -> Any:
    del tables.own("Meeting")[_meeting_key(tables, token, meeting_topic, start_time, end_time)]
    return "success"


CALENDAR_TOOLS: Mapping[str, ToolFunction] = {
    "AddAgenda": _add_agenda,
    "ModifyAgenda": _modify_agenda,
    "QueryAgenda": _query_agenda,
    "DeleteAgenda": _delete_agenda,
    "AddReminder": _add_reminder,
    "ModifyReminder": _modify_reminder,
    "QueryReminder": _query_reminder,
    "DeleteReminder": _delete_reminder,
    "AddAlarm": _add_alarm,
    "ModifyAlarm": _modify_alarm,
    "QueryAlarm": _query_alarm,
    "DeleteAlarm": _delete_alarm,
    "AddMeeting": _add_meeting,
    "ModifyMeeting": _modify_meeting,
    "QueryMeeting": _query_meeting,
    "DeleteMeeting": _delete_meeting,
}
