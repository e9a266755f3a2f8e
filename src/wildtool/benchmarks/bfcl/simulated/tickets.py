"""The simulated ticket system (section 5 of the specification of the classes)."""

from typing import Any

from wildtool.benchmarks.bfcl.simulated.base import ApiState, SimulatedApi, failed
from wildtool.toolcall.refusals import refuse_if

_NO_LOGIN = "no user is logged in"


class TicketAPI(SimulatedApi):
    """A queue of tickets, each created by a user."""

    NAME = "TicketAPI"
    DOCUMENTS = "ticket_api"

    def _require_login(self) -> None:
        refuse_if(not self.state["current_user"], _NO_LOGIN)

    def create_ticket(self, title: Any, description: Any = "", priority: Any = 1) -> ApiState:
        self._require_login()
        refuse_if(priority < 1 or priority > 5, "the priority must be from 1 to 5")
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
        found = [ticket for ticket in self.state["ticket_queue"] if ticket["id"] == ticket_id]
        refuse_if(not found, f"ticket {ticket_id!r} not found")
        return found[0]

    def close_ticket(self, ticket_id: Any) -> ApiState:
        ticket = self.get_ticket(ticket_id)
        refuse_if(ticket["status"] == "Closed", f"ticket {ticket_id!r} is closed already")
        ticket["status"] = "Closed"
        return {"status": f"Ticket {ticket_id} has been closed successfully."}

    def resolve_ticket(self, ticket_id: Any, resolution: Any) -> ApiState:
        ticket = self.get_ticket(ticket_id)
        refuse_if(ticket["status"] == "Resolved", f"ticket {ticket_id!r} is resolved already")
        ticket["status"] = "Resolved"
        ticket["resolution"] = resolution
        return {"status": f"Ticket {ticket_id} has been resolved successfully."}

    def edit_ticket(self, ticket_id: Any, updates: Any) -> ApiState:
        ticket = self.get_ticket(ticket_id)
        unknown = set(updates) - {"title", "description", "status", "priority"}
        refuse_if(unknown, f"these fields cannot be changed: {', '.join(sorted(map(str, unknown)))}")
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
