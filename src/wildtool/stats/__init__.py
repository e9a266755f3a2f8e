"""Statistics on verdict tables: intervals that respect clusters."""
