"""Small tables for the simulated classes, in place of the benchmark's own."""

from collections.abc import Mapping
from typing import Any

from wildtool.benchmarks.bfcl.simulated import SimulatedApis, classes_of
from wildtool.benchmarks.bfcl.simulated.base import SimulatedTables

STOCK = {"price": 10.0, "percent_change": 0.5, "volume": 1.0, "MA(5)": 9.0, "MA(20)": 8.0}
PRESSURES = {f"{tire}TirePressure": 32.0 for tire in ("frontLeft", "frontRight", "rearLeft", "rearRight")}
DEFAULTS: Mapping[str, Any] = {
    "MessageAPI": {
        "generated_ids": [],
        "user_count": 2,
        "user_map": {"Ann": "USR001", "Ben": "USR002"},
        "inbox": [{"USR002": "first"}],
        "message_count": 1,
        "current_user": None,
    },
    "TwitterAPI": {
        "username": "ann",
        "password": "secret",
        "authenticated": False,
        "tweets": {},
        "comments": {},
        "retweets": {},
        "following_list": [],
        "tweet_counter": 0,
    },
    "TicketAPI": {"ticket_queue": [], "ticket_counter": 1, "current_user": None},
    "TradingBot": {
        "random_seed": 5,
        "orders": {
            "7": {"id": 7, "order_type": "Buy", "symbol": "AAA", "price": 1.0, "amount": 1, "status": "Open"}
        },
        "account_info": {"account_id": 1, "balance": 100.0, "binding_card": 2},
        "authenticated": False,
        "market_status": "Open",
        "order_counter": 8,
        "stocks": {"AAA": STOCK},
        "watch_list": [],
        "transaction_history": [],
    },
    "TravelAPI": {
        "random_seed": 6,
        "credit_card_list": {},
        "booking_record": {},
        "access_token": None,
        "token_type": None,
        "token_expires_in": None,
        "token_scope": None,
        "user_first_name": None,
        "user_last_name": None,
        "budget_limit": None,
    },
    "VehicleControlAPI": {
        "random_seed": 6,
        "fuelLevel": 0.0,
        "batteryVoltage": 12.6,
        "engine_state": "stopped",
        "remainingUnlockedDoors": 4,
        "doorStatus": {
            "driver": "unlocked",
            "passenger": "locked",
            "rear_left": "locked",
            "rear_right": "locked",
        },
        "acTemperature": 25.0,
        "fanSpeed": 50,
        "acMode": "auto",
        "humidityLevel": 50.0,
        "headLightStatus": "off",
        "parkingBrakeStatus": "released",
        "_parkingBrakeForce": 0.0,
        "_slopeAngle": 0.0,
        "brakePedalStatus": "released",
        "brakePedalForce": 0.0,
        "distanceToNextVehicle": 50.0,
        "cruiseStatus": "inactive",
        "destination": "None",
        **PRESSURES,
    },
}
LOOKUPS: Mapping[str, Any] = {
    "MathAPI": {
        "si_unit_conversion.to_meters": {"km": 1000, "m": 1},
        "imperial_si_conversion.conversion": {
            "cm_to_in": 0.4,
            "celsius_to_fahrenheit": 1.8,
            "fahrenheit_to_celsius": 5 / 9,
        },
    },
    "TradingBot": {
        "get_symbol_by_name.symbol_map": {"Triple": "AAA"},
        "get_available_stocks.sector_map": {"Technology": ["AAA"]},
    },
    "TravelAPI": {
        "get_flight_cost.base_costs": {("AAA", "BBB"): 100, ("BBB", "CCC"): 200},
        "list_all_airports.returns": ["AAA", "BBB", "CCC"],
        "compute_exchange_rate.exchange_rates": {("USD", "EUR"): 0.8},
        "get_nearest_airport_by_city.airport_map": {"Here": "AAA"},
    },
}
FILLER: Mapping[str, Any] = {
    "WATCH_LIST_EXTENSION": ["ZZZ", ...],
    "TRANSACTION_HISTORY_EXTENSION": [],
    "MA_5_EXTENSION": [1.5],
    "MA_20_EXTENSION": [2.5],
    "TECHNOLOGY_EXTENSION": ["TTT"],
    "AUTOMOBILE_EXTENSION": ["UUU"],
    "ORDER_DETAIL_EXTENSION": {"overview": "About {symbol} and {nothing}."},
    "FILE_CONTENT_EXTENSION": " and more",
    "POPULATE_FILE_EXTENSION": ["filler.jpg"],
    "CAR_STATUS_METADATA_EXTENSION": "a car",
    "LONG_WEATHER_EXTENSION": {"yesterday": {}},
    "PARKING_BRAKE_INSTRUCTION": "pull",
    "INTERMEDIARY_CITIES": ["Middletown"],
    "CREDIT_CARD_EXTENSION": {"filler": {"balance": 1.0}},
    "BOOKING_RECORD_EXTENSION": {"booking": {"card_id": "filler", "travel_cost": 1.0}},
    "FILES_TAIL_USED": ["kept.txt"],
}
TABLES = SimulatedTables(DEFAULTS, LOOKUPS, FILLER)
TREE: Mapping[str, Any] = {
    "root": {
        "home": {
            "type": "directory",
            "contents": {
                "notes.txt": {"type": "file", "content": "b\na"},
                "kept.txt": {"type": "file", "content": "one two"},
                "box": {"type": "directory", "contents": {}},
                "bag": {"type": "directory", "contents": {"coin": {"type": "file", "content": "x"}}},
            },
        }
    }
}


def simulated(
    *classes: str, long_context: bool = False, version: str = "v4", **scenario: Any
) -> SimulatedApis:
    """Instances of the classes, all by default. Args: scenario: of each class named."""
    config = {"GorillaFileSystem": TREE, **{name: scenario for name in classes if scenario}}
    owners = classes_of(version)
    return SimulatedApis(TABLES, classes or tuple(owners), config, long_context=long_context, owners=owners)
