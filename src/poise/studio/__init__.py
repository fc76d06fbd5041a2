"""The studio: design, guide, push and compare in the browser."""
