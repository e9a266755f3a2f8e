"""The simulated car (section 8 of the specification of the classes)."""

# ruff: noqa: N802, N803 - tools and parameters have the benchmark's names.

from collections.abc import Mapping
from copy import copy
from typing import Any

from wildtool.benchmarks.bfcl.simulated.base import ApiState, SimulatedApi, failed
from wildtool.toolcall.refusals import refuse_if

_DISTANCES = {
    ("83214", "74532"): 750.0,
    ("56108", "62947"): 320.0,
    ("71354", "83462"): 450.0,
    ("47329", "52013"): 290.0,
    ("69238", "51479"): 630.0,
    ("94016", "83214"): 980.0,
    ("94016", "94704"): 600.0,
    ("94704", "08540"): 2550.0,
    ("94016", "08540"): 1950.0,
    ("62947", "47329"): 1053.0,
    ("94016", "62947"): 780.0,
    ("74532", "94016"): 880.0,
}
"""Kilometres between two zip codes, in either direction."""
_ZIPCODES = {
    "Rivermist": "83214",
    "Stonebrook": "74532",
    "Maplecrest": "56108",
    "Silverpine": "62947",
    "Shadowridge": "71354",
    "Sunset Valley": "83462",
    "Oakendale": "47329",
    "Willowbend": "52013",
    "Crescent Hollow": "69238",
    "Autumnville": "51479",
    "San Francisco": "94016",
}
_TIRES = ("frontLeft", "frontRight", "rearLeft", "rearRight")
_TANK_LITERS = 50
_KILOMETRES_A_UNIT = 20
"""Range per unit of fuel."""


class VehicleControlAPI(SimulatedApi):
    """Engine, doors, brakes, climate, lights and navigation of one car."""

    NAME = "VehicleControlAPI"
    DOCUMENTS = "vehicle_control"

    def _set_up(self, scenario: Mapping[str, Any]) -> None:
        self._parking_force = scenario.get("parkingBrakeForce", 0.0)
        self._slope = scenario.get("slopeAngle", 0.0)
        self._pedal_force = scenario.get("brakePedalForce", 0.0)
        self.state.pop("brakePedalForce", None)
        self.state["engine_state"] = scenario.get("engineState", self.state["engine_state"])
        locked = [status for status in self.state["doorStatus"].values() if status == "locked"]
        self.state["remainingUnlockedDoors"] = 4 - len(locked)
        self.state["long_context"] = self._long

    def hidden(self) -> ApiState:
        return {"forces": (self._parking_force, self._slope, self._pedal_force)}

    def _reading(self, low: float, high: float) -> float:
        numbers = copy(self._random) if self.steady else self._random
        return numbers.uniform(low, high)

    def startEngine(self, ignitionMode: Any) -> ApiState:
        state = self.state
        if ignitionMode == "STOP":
            state["engine_state"] = "stopped"
        refuse_if(state["remainingUnlockedDoors"] > 0, "all doors must be locked before the engine starts")
        is_pressed = state["brakePedalStatus"] == "pressed"
        refuse_if(not is_pressed, "the brake pedal must be pressed when the engine starts")
        refuse_if(self._pedal_force != 1000.0, "the brake pedal must be pressed completely")
        refuse_if(state["fuelLevel"] < 0, "the fuel tank is empty")
        refuse_if(ignitionMode != "START", "expected the ignition mode START")
        state["engine_state"] = "running"
        return {
            "engineState": "running",
            "fuelLevel": state["fuelLevel"],
            "batteryVoltage": state["batteryVoltage"],
        }

    def fillFuelTank(self, fuelAmount: Any) -> ApiState:
        refuse_if(fuelAmount < 0, "the amount of fuel must not be negative")
        refuse_if(self.state["fuelLevel"] + fuelAmount > _TANK_LITERS, "the tank cannot hold so much fuel")
        self.state["fuelLevel"] += fuelAmount
        return {"fuelLevel": self.state["fuelLevel"]}

    def lockDoors(self, unlock: Any, door: Any) -> ApiState:
        wanted, change = ("unlocked", 1) if unlock else ("locked", -1)
        for name in door:
            if self.state["doorStatus"][name] != wanted:
                self.state["doorStatus"][name] = wanted
                self.state["remainingUnlockedDoors"] += change
        return {"lockStatus": wanted, "remainingUnlockedDoors": self.state["remainingUnlockedDoors"]}

    def adjustClimateControl(
        self, temperature: Any, unit: Any = "celsius", fanSpeed: Any = 50, mode: Any = "auto"
    ) -> ApiState:
        refuse_if(not 0 <= fanSpeed <= 100, "the fan speed must be from 0 to 100")
        self.state["acTemperature"] = temperature
        if unit == "fahrenheit":
            self.state["acTemperature"] = (temperature - 32) * 5 / 9
        self.state |= {"fanSpeed": fanSpeed, "acMode": mode}
        return {
            "currentACTemperature": temperature,
            "climateMode": mode,
            "humidityLevel": self.state["humidityLevel"],
        }

    def get_outside_temperature_from_google(self) -> ApiState:
        temperature = {"outsideTemperature": self._reading(-10, 40)}
        return {**self._filler["LONG_WEATHER_EXTENSION"], **temperature} if self._long else temperature

    def get_outside_temperature_from_weather_com(self) -> ApiState:
        return {"error": 404}

    def setHeadlights(self, mode: Any) -> ApiState:
        refuse_if(mode not in ("on", "off", "auto"), "expected the mode on, off or auto")
        self.state["headLightStatus"] = "on" if mode == "on" else "off"
        return {"headlightStatus": self.state["headLightStatus"]}

    def displayCarStatus(self, option: Any) -> ApiState:
        state = self.state
        parts: dict[str, ApiState] = {
            "fuel": {"fuelLevel": state["fuelLevel"]},
            "battery": {"batteryVoltage": state["batteryVoltage"]},
            "doors": {"doorStatus": state["doorStatus"]},
            "climate": {
                "currentACTemperature": state["acTemperature"],
                "fanSpeed": state["fanSpeed"],
                "climateMode": state["acMode"],
                "humidityLevel": state["humidityLevel"],
            },
            "headlights": {"headlightStatus": state["headLightStatus"]},
            "parkingBrake": {
                "parkingBrakeStatus": state["parkingBrakeStatus"],
                "parkingBrakeForce": self._parking_force,
                "slopeAngle": self._slope,
            },
            "brakePedal": {
                "brakePedalStatus": state["brakePedalStatus"],
                "brakePedalForce": self._pedal_force,
            },
            "engine": {"engineState": state["engine_state"]},
        }
        metadata = {"metadata": self._filler["CAR_STATUS_METADATA_EXTENSION"]} if self._long else {}
        return {**metadata, **parts.get(option, failed(f"expected an option of {', '.join(parts)}"))}

    def activateParkingBrake(self, mode: Any) -> ApiState:
        settings = {"engage": ("engaged", 500.0, 10.0), "release": ("released", 0.0, 10.0)}
        refuse_if(mode not in settings, "expected the mode engage or release")
        self.state["parkingBrakeStatus"], self._parking_force, self._slope = settings[mode]
        instruction = (
            {"parkingBrakeInstruction": self._filler["PARKING_BRAKE_INSTRUCTION"]} if self._long else {}
        )
        return {
            **instruction,
            "parkingBrakeStatus": self.state["parkingBrakeStatus"],
            "_parkingBrakeForce": self._parking_force,
            "_slopeAngle": self._slope,
        }

    def pressBrakePedal(self, pedalPosition: Any) -> ApiState:
        refuse_if(not 0 <= pedalPosition <= 1, "the pedal position must be from 0 to 1")
        if pedalPosition == 0:
            return self.releaseBrakePedal()
        self.state["brakePedalStatus"] = "pressed"
        self._pedal_force = pedalPosition * 1000
        return {"brakePedalStatus": "pressed", "brakePedalForce": float(self._pedal_force)}

    def releaseBrakePedal(self) -> ApiState:
        self.state["brakePedalStatus"] = "released"
        self._pedal_force = 0.0
        return {"brakePedalStatus": "released", "brakePedalForce": 0.0}

    def setCruiseControl(self, speed: Any, activate: Any, distanceToNextVehicle: Any) -> ApiState:
        state = self.state
        refuse_if(state["engine_state"] == "stopped", "the engine must run for cruise control")
        speed, distance = self._cruise_number(speed), self._cruise_number(distanceToNextVehicle)
        state["distanceToNextVehicle"] = distance
        is_odd = activate and (not 0 <= speed <= 120 or speed % 5 != 0)
        refuse_if(is_odd, "the speed must be a multiple of 5 from 0 to 120")
        state["cruiseStatus"] = "active" if activate else "inactive"
        return {
            "cruiseStatus": state["cruiseStatus"],
            "currentSpeed": speed,
            "distanceToNextVehicle": distance,
        }

    def _cruise_number(self, number: Any) -> Any:
        return float(number)

    def get_current_speed(self) -> ApiState:
        return {"currentSpeed": self._reading(0, 120)}

    def display_log(self, messages: Any) -> ApiState:
        return {"log": messages}

    def estimate_drive_feasibility_by_mileage(self, distance: Any) -> ApiState:
        return {"canDrive": self.state["fuelLevel"] * _KILOMETRES_A_UNIT >= distance}

    def liter_to_gallon(self, liter: Any) -> ApiState:
        return {"gallon": liter * 0.264172}

    def gallon_to_liter(self, gallon: Any) -> ApiState:
        return {"liter": gallon * 3.78541}

    def estimate_distance(self, cityA: Any, cityB: Any) -> ApiState:
        distance = _DISTANCES.get((cityA, cityB), _DISTANCES.get((cityB, cityA)))
        refuse_if(distance is None, "the distance between these zip codes is not known")
        cities = {"intermediaryCities": self._filler["INTERMEDIARY_CITIES"]} if self._long else {}
        return {"distance": distance, **cities}

    def get_zipcode_based_on_city(self, city: Any) -> ApiState:
        return {"zipcode": _ZIPCODES.get(city, "00000")}

    def set_navigation(self, destination: Any) -> ApiState:
        self.state["destination"] = destination
        return {"status": "Navigating to " + destination}

    def check_tire_pressure(self) -> ApiState:
        pressures = {f"{tire}TirePressure": self.state[f"{tire}TirePressure"] for tire in _TIRES}
        mean = sum(pressures.values()) / len(pressures)
        info: Any = self._filler["CAR_STATUS_METADATA_EXTENSION"] if self._long else {}
        return {**pressures, "healthy_tire_pressure": 30 <= mean <= 35, "car_info": info}

    def find_nearest_tire_shop(self) -> ApiState:
        return {"shopLocation": "456 Oakwood Avenue, Rivermist, 83214"}
