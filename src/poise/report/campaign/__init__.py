"""The page of a campaign: how many runs succeeded, on what that depends, how they moved, and the worst of them.

>>> from poise.campaign.results import Results
>>> from poise.report.campaign import save_campaign_page
>>> save_campaign_page("pushes.html", Results.load("pushes"))
"""

from poise.report.campaign.kept import Kept
from poise.report.campaign.page import SECTIONS, campaign_page, save_campaign_page
from poise.report.campaign.worst import worst_runs

__all__ = ["SECTIONS", "Kept", "campaign_page", "save_campaign_page", "worst_runs"]
