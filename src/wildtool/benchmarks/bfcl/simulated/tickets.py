"""The simulated ticket system (section 5 of the specification of the classes)."""

from typing import Any

from wildtool.benchmarks.bfcl.simulated.base import ApiState, SimulatedApi, failed

_NO_LOGIN = "no user is logged in"


class TicketAPI(SimulatedApi):
    """A queue of tickets, each created by a user."""

    NAME = "TicketAPI"
    DOCUMENTS = "ticket_api"

    def create_ticket(self, title: Any, description: Any = "", priority: Any = 1) -> ApiState:
        if not self.state["current_user"]:
            return failed(_NO_LOGIN)
        if priority < 1 or priority > 5:
            return failed("the priority must be from 1 to 5")
        ticket = {
            "id": self.state["ticket_counter"],
            "title": title,
            "description": description,
            "status": "Open",
            "priority": priority,
            "created_by": self.state["current_user"],
        }
        self.state["ticket_queue"].append(ticket)
        self.state["ticket_counter"] += 1
        return ticket

    def get_ticket(self, ticket_id: Any) -> ApiState:
        found = (ticket for ticket in self.state["ticket_queue"] if ticket["id"] == ticket_id)
        return next(found, failed(f"ticket {ticket_id!r} not found"))

    def close_ticket(self, ticket_id: Any) -> ApiState:
        ticket = self.get_ticket(ticket_id)
        if "error" in ticket:
            return ticket
        if ticket["status"] == "Closed":
            return failed(f"ticket {ticket_id!r} is closed already")
        ticket["status"] = "Closed"
        return {"status": f"Ticket {ticket_id} has been closed successfully."}

    def resolve_ticket(self, ticket_id: Any, resolution: Any) -> ApiState:
        ticket = self.get_ticket(ticket_id)
        if "error" in ticket:
            return ticket
        if ticket["status"] == "Resolved":
            return failed(f"ticket {ticket_id!r} is resolved already")
        ticket["status"] = "Resolved"
        ticket["resolution"] = resolution
        return {"status": f"Ticket {ticket_id} has been resolved successfully."}

    def edit_ticket(self, ticket_id: Any, updates: Any) -> ApiState:
        ticket = self.get_ticket(ticket_id)
        if "error" in ticket:
            return ticket
        unknown = set(updates) - {"title", "description", "status", "priority"}
        if unknown:
            return failed(f"these fields cannot be changed: {', '.join(sorted(map(str, unknown)))}")
        ticket.update({key: value for key, value in updates.items() if value is not None})
        return {"status": f"Ticket {ticket_id} has been updated successfully."}

    def ticket_login(self, username: Any, password: Any) -> ApiState:
        if not username or not password:
            return {"success": False}
        self.state["current_user"] = username
        return {"success": True}

    def ticket_get_login_status(self) -> ApiState:
        return {"login_status": bool(self.state["current_user"])}

    def logout(self) -> ApiState:
        was_logged_in = bool(self.state["current_user"])
        self.state["current_user"] = None
        return {"success": was_logged_in}

    def get_user_tickets(self, status: Any = None) -> list[ApiState]:
        user = self.state["current_user"]
        if not user:
            return [failed(_NO_LOGIN)]
        own = [ticket for ticket in self.state["ticket_queue"] if ticket["created_by"] == user]
        return [ticket for ticket in own if not status or ticket["status"].lower() == status.lower()]
