"""API-Bank's tools about health and home: appointments, health data, symptoms, scenes, switches."""

from collections.abc import Mapping
from typing import Any

from wildtool.benchmarks.apibank.tools.state import (
    MOMENT,
    Tables,
    ToolFunction,
    ToolTable,
    given,
    made_up,
    padded_time,
)
from wildtool.toolcall.refusals import refuse_if

# Appointments ----------------------------------------------------------------------------------------


def _register_appointment(tables: Tables, patient_name: str, date: str, doctor_name: str) -> Any:
    patient, doctor, table = patient_name.strip(), doctor_name.strip(), tables.own("Appointments")
    refuse_if(not patient or not doctor, "Patient name or doctor name cannot be empty.")
    day = padded_time(date)
    doctors = [other["doctor_name"] for other in _of_patient(table, patient, day).values()]
    refuse_if(doctors[:1] == [doctor], "This appointment has already been registered.")
    refuse_if(doctors, "This patient has already been registered in this day.")
    number = int(made_up("appointment", patient, day, doctor), 16)
    while (key := str(10_000_000 + number % 90_000_000)) in table:
        number += 1
    table[key] = {"patient_name": patient, "date": day, "doctor_name": doctor}
    return key


def _of_patient(table: ToolTable, patient: str, day: str) -> ToolTable:
    """Appointments of a patient on a day."""
    return {
        key: record
        for key, record in table.items()
        if record["patient_name"] == patient and padded_time(record["date"]) == day
    }


def _cancel_registration(tables: Tables, appointment_id: str) -> Any:
    appointment = tables.own("Appointments").pop(appointment_id.strip(), None)
    refuse_if(appointment is None, "The appointment ID is incorrect.")
    return "success"


def _modify_registration(
    tables: Tables,
    appointment_id: str,
    new_appointment_date: str | None = None,
    new_appointment_doctor: str | None = None,
) -> Any:
    appointments, key = tables.own("Appointments"), appointment_id.strip()
    refuse_if(key not in appointments, "The appointment ID does not exist.")
    record = appointments[key]
    changes: dict[str, str] = {}
    if new_appointment_doctor is not None:
        changes["doctor_name"] = new_appointment_doctor.strip()
        refuse_if(not changes["doctor_name"], "Fail because the doctor name is empty.")
    if new_appointment_date is not None:
        changes["date"] = padded_time(new_appointment_date)
    unchanged = {name for name, value in changes.items() if record[name] == value}
    refuse_if(not changes or len(unchanged) == 2, "Fail because no modification is made.")
    refuse_if(unchanged, f"Fail because {'date' if 'date' in unchanged else 'doctor'} is not changed.")
    record |= changes
    return "success"


def _query_registration(tables: Tables, patient_name: str, date: str) -> Any:
    appointments = _of_patient(tables.own("Appointments"), patient_name.strip(), padded_time(date))
    refuse_if(not appointments, "No appointments found.")
    return appointments


# Health ----------------------------------------------------------------------------------------------


def _user_id(text: str) -> str:
    return given(text.upper().strip(), "The user id cannot be empty.")


def _moment(time: str) -> str:
    return padded_time(time, MOMENT).replace("T", " ")


def _record_health_data(tables: Tables, user_id: str, time: str, health_data: Any = None) -> Any:
    user, moment = _user_id(user_id), _moment(time)
    refuse_if(not health_data, "The health data cannot be empty.")
    values: dict[str, Any] = {}
    for entry in health_data:
        refuse_if("name" not in entry, "The health data has invalid format.")
        refuse_if(entry["name"] in values, "The health data cannot contain duplicate items.")
        values[entry["name"]] = entry["value"]
    records = tables.own("HealthData").setdefault(user, [])
    earlier = next((record for record in reversed(records) if record["time"] == moment), None)
    if earlier is None:
        records.append({"time": moment} | values)
    else:
        earlier |= values
    return "success"


def _query_health_data(tables: Tables, user_id: str, start_time: str, end_time: str) -> Any:
    user, times, faults = _user_id(user_id), list[str](), list[str]()
    for text in (start_time, end_time):
        try:
            times.append(padded_time(text, MOMENT))
        except ValueError as error:
            faults.append(str(error))
    refuse_if(faults, "; ".join(faults))
    refuse_if(times[0] > times[1], "The start time cannot be later than the end time.")
    refuse_if(user not in tables.shipped("HealthData"), "The user id does not exist.")
    entries = [
        record
        for record in tables.own("HealthData")[user]
        if times[0] <= padded_time(record["time"], MOMENT) <= times[1]
    ]
    refuse_if(not entries, "There is no health data in the given time span.")
    return entries


def _symptom(tables: Tables, symptom: str, field: str) -> Any:
    """Name and one more field of each illness with a symptom."""
    name = given(symptom.strip().lower(), "The symptom cannot be empty.")
    refuse_if(name not in tables.shipped("Symptom"), "The symptom does not exist.")
    return [{"name": entry["name"], field: entry[field]} for entry in tables.shipped("Symptom")[name]]


def _emergency_knowledge(tables: Tables, symptom: str) -> Any:
    return _symptom(tables, symptom, "aid")


def _symptom_search(tables: Tables, symptom: str) -> Any:
    return _symptom(tables, symptom, "description")


# Home ------------------------------------------------------------------------------------------------


def _scene_name(name: str) -> str:
    return given(name.strip().lower(), "Scene name cannot be empty.")


def plain_devices(devices: Any) -> list[ToolTable]:
    """Devices of a scene by name, names in lower case. Raises KeyError, TypeError, AttributeError where they are none."""
    plain = [
        {**device, "name": device["name"].strip().lower(), "description": device["description"].strip()}
        for device in devices
    ]
    return sorted(plain, key=lambda device: device["name"])


def _checked_devices(devices: Any) -> list[ToolTable]:
    is_bad = any("name" not in device or "description" not in device for device in devices)
    refuse_if(is_bad, "Invalid device format.")
    plain = plain_devices(devices)
    refuse_if(len({one["name"] for one in plain}) < len(plain), "Device name cannot be duplicated.")
    return plain


def _add_scene(tables: Tables, name: str, devices: Any) -> Any:
    key, plain = _scene_name(name), _checked_devices(devices)
    refuse_if(key in tables.shipped("Scenes"), "Scene name already exists.")
    tables.own("Scenes")[key] = plain
    return "success"


def _modify_scene(tables: Tables, name: str, devices: Any) -> Any:
    key, plain = _scene_name(name), _checked_devices(devices)
    refuse_if(key not in tables.shipped("Scenes"), "The scene does not exist.")
    tables.own("Scenes")[key] = plain
    return "success"


def _delete_scene(tables: Tables, name: str) -> Any:
    refuse_if(tables.own("Scenes").pop(_scene_name(name), None) is None, "The scene does not exist.")
    return "success"


def _query_scene(tables: Tables, name: str) -> Any:
    scenes, key = tables.shipped("Scenes"), _scene_name(name)
    refuse_if(key not in scenes, "Scene not found.")
    return scenes[key]


def _timed_switch(tables: Tables, name: str, time: str, on: bool) -> Any:
    key = given(name.strip().lower(), "Name cannot be empty.")
    moment = _moment(time)
    switches = tables.own("TimeSwitch").setdefault(key, [])
    switch_then = next((switch for switch in switches if switch["time"] == moment), None)
    if switch_then is None:
        switches.append({"time": moment, "on": on})
    else:
        switch_then["on"] = on
    return "success"


def _cancel_timed_switch(tables: Tables, name: str, time: str) -> Any:
    key = given(name.strip().lower(), "name cannot be empty.")
    moment, devices = _moment(time), tables.own("TimeSwitch")
    refuse_if(key not in devices, "device name does not exist.")
    switches_then = [switch for switch in devices[key] if switch["time"] == moment]
    refuse_if(not switches_then, "time does not exist.")
    devices[key].remove(switches_then[0])
    return "success"


def _play_music(tables: Tables, music_name: str) -> Any:
    return f"music://{given(music_name.strip().lower(), 'The music name cannot be empty.')}"


CARE_TOOLS: Mapping[str, ToolFunction] = {
    "AppointmentRegistration": _register_appointment,
    "CancelRegistration": _cancel_registration,
    "ModifyRegistration": _modify_registration,
    "QueryRegistration": _query_registration,
    "RecordHealthData": _record_health_data,
    "QueryHealthData": _query_health_data,
    "EmergencyKnowledge": _emergency_knowledge,
    "SymptomSearch": _symptom_search,
    "AddScene": _add_scene,
    "ModifyScene": _modify_scene,
    "DeleteScene": _delete_scene,
    "QueryScene": _query_scene,
    "TimedSwitch": _timed_switch,
    "CancelTimedSwitch": _cancel_timed_switch,
    "PlayMusic": _play_music,
}
