"""Programs that measure this repository; none of them is installed with Poise."""
