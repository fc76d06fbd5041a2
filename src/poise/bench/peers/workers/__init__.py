"""Scripts that run in the environments of peers, without Poise. Nothing here is imported by Poise."""
