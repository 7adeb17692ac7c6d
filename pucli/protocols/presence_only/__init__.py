"""Presence-only ecology: models of presences and background, tested by a survey of presences and absences."""
