"""The rules by which a record of usage is no call of its own, each with what it says.

SQL names them in `dropped_by`; a check holds that no other name occurs.
"""

DROP_RULES = {
    "same_message": "another record of the same message has the whole call",
    "same_call": (
        "an earlier record has the same running total, or is of the same response"
    ),
    "same_event": "the same end of a run stands in another file, or was read before",
    "same_reply": "another piece of the same reply has more of its output",
    "same_total": "the running total is what it was before, so there was no request",
    "late_total": "the running total is an older one, written late",
    "replay": "it stands in the part of a thread that repeats another thread",
    "total_of_ancestor": (
        "a thread above this one has the same running total, and the request"
    ),
    "total_fell": (
        "the running total fell, and the record has no numbers of one request"
    ),
    "no_request": "it used nothing and says nothing, so there was no request",
    "response_counts": (
        "the vendor's own records of responses count from here on, and totals do not"
    ),
    "earlier_total": "a newer record of the same total has all that it grew by",
    "no_remainder": "the calls that are known explain all of the total",
    "superseded": "a more exact place reports the same usage",
    "parts_count": "the requests that the call is made of have records of their own",
    "calls_count": "the calls of the run are reported one by one",
    "in_run_segment": "the end of its run reports the reply",
    "in_later_total": "the end of a later run reports the reply",
}
