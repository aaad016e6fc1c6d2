"""From the name of a model, as an agent wrote it, to a line of a price list.

`resolve` is pure: the tables of `names.toml` say what the forms of names mean, and the
caller says which names are on which list. A name is matched whole, in one of its
spellings, after what stands around it was taken off: never by likeness. Each step that
assumed something is told in `assumed`.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from agentlake.pipelines.prices.name_tables import Seller, tables

Known = Callable[[str, str], str | None]
"""Seller and name to the id that its price list has for it; None: not on the list."""

ASSUMPTIONS = {
    "vendor": "the vendor is known only from the model's name",
    "list price": "the vendor's list price: the provider's own is not known",
    "region": "the global price: the region is not known",
    "alias": "the name stands for another model, by what its maker said elsewhere",
}


class Offer(NamedTuple):
    """What was used, as the usage rows name it."""

    source: str
    provider: str | None
    model: str
    service_tier: str | None
    region: str | None


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """What a name says. Without a `seller` no price list can be asked."""

    vendor: str | None = None
    """Who made the model."""
    canonical_model: str | None = None
    """The model's name in one spelling, without all that is not the model."""
    list_model: str | None = None
    """The id by which the price list has it."""
    channel: str | None = None
    """first-party, bedrock, vertex, azure, gateway, subscription or local."""
    seller: str | None = None
    """Whose price list holds."""
    region: str | None = None
    tier: str = "standard"
    context_variant: str | None = None
    effort: str | None = None
    assumed: tuple[str, ...] = ()
    unknown: str | None = None
    """Why no price list can be asked."""


_DATE = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2})$")
_KEPT = ("tier", "effort", "context")
"""Endings that say something beside the model; the others are dropped."""


class _Name(msgspec.Struct, frozen=True, kw_only=True):
    """A name on the way, with what was taken off it so far."""

    name: str
    provider: str | None = None
    channel: str | None = None
    region: str | None = None
    tier: str | None = None
    context: str | None = None
    effort: str | None = None
    parameters: str | None = None


class _Seen(NamedTuple):
    """Who may have sold it: as the record says, as the name says, as the agent does."""

    provider: str | None
    named: Seller | None
    prefix: Seller | None
    default: Seller | None


def resolve(offer: Offer, known: Known) -> Resolved:
    """Say what an offer is; the same for the same lists, whenever it is asked."""
    words = tables()
    whole = re.sub(r"\s+", "-", offer.model.strip().lower())
    if re.fullmatch(r"\w+", whole):  # CLAUDE_SONNET_4_20250514_V1_0
        whole = whole.replace("_", "-")
    provider = (offer.provider or "").strip().lower() or None
    if whole in words.no_model or any(p.fullmatch(whole) for p in words.opaque):
        return Resolved(unknown="the name says no model")
    forms = list(_unwrapped(whole))
    for place in (provider, *(form.provider for form in forms)):
        if place in words.local:
            return _local(forms[-1].name, place)
    for name in forms:
        seen = _Seen(
            provider=provider,
            named=words.providers.get(provider or ""),
            prefix=words.providers.get(name.provider or ""),
            default=words.providers.get(words.sources.get(offer.source, "")),
        )
        for cut in _cut_endings(name):
            for seller in _sellers(cut, seen):
                if found := _found(cut, seller, known):
                    if name is not forms[-1]:  # the list has it with what is around it
                        bare = _DATE.sub("", forms[-1].name)
                        found = found._replace(canonical=bare)
                    return _resolved(offer, cut, seen, found)
    return _nowhere(offer, forms[-1], provider)


def _local(name: str, provider: str | None) -> Resolved:
    why = f"{provider} is not paid per token"
    return Resolved(canonical_model=name, channel="local", unknown=why)


def _nowhere(offer: Offer, name: _Name, provider: str | None) -> Resolved:
    """What can be said of a name that is on no list."""
    if name.name in tables().no_model:
        return Resolved(unknown="the name says no model")
    vendor = _vendor(name.name)
    return Resolved(
        vendor=vendor,
        canonical_model=name.name,
        channel=_nowhere_channel(name, provider),
        region=_region(name, offer),
        tier=_tier(name, offer, vendor),
        context_variant=name.context,
        effort=name.effort,
        unknown="no price list that we know has the name",
    )


def _nowhere_channel(name: _Name, provider: str | None) -> str | None:
    named = tables().providers.get(provider or name.provider or "")
    if name.channel not in (None, "slash"):
        return name.channel
    return named.channel if named else ("gateway" if provider else None)


def spellings(name: str) -> Iterator[str]:
    """The ways in which one name is written: dots or dashes, Claude's two orders."""
    name = name.replace("_", "-")
    forms = [name, re.sub(r"(?<=\d)p(?=\d)", ".", name)]
    if swapped := re.fullmatch(r"claude-(\d+(?:[.-]\d{1,2})?)-([a-z]+)(.*)", name):
        number, kind, remainder = swapped.groups()
        forms.append(f"claude-{kind}-{number}{remainder}")
    if swapped := re.fullmatch(r"claude-([a-z]+)-(\d(?:[.-]\d)?)(.*)", name):
        kind, number, remainder = swapped.groups()
        forms.append(f"claude-{number}-{kind}{remainder}")
    for form in dict.fromkeys(forms):
        yield form
        yield re.sub(r"(?<=\d)\.(?=\d)", "-", form)
        yield re.sub(r"(?<=[a-z-]\d)-(?=\d{1,2}(?!\d))", ".", form)


def _unwrapped(whole: str) -> Iterator[_Name]:
    """The name as it is, and after each thing around it was taken off."""
    now = _Name(name=whole)
    while True:
        yield now
        for wrap in tables().wraps:
            if match := wrap.pattern.fullmatch(now.name):
                groups = {k: v for k, v in match.groupdict().items() if v}
                if now.provider in tables().providers:  # who is outermost sells
                    groups.pop("provider", None)
                if wrap.channel:
                    groups["channel"] = wrap.channel
                elif wrap.form == "provider/model":
                    groups["channel"] = now.channel or "slash"
                now = _with_parameters(msgspec.structs.replace(now, **groups))
                break
        else:
            return


def _with_parameters(name: _Name) -> _Name:
    """Read `effort=high,fast=true`, which stood in brackets."""
    if name.parameters is None:
        return name
    said = dict(it.split("=", 1) for it in name.parameters.split(",") if "=" in it)
    return msgspec.structs.replace(
        name,
        parameters=None,
        tier="fast" if said.get("fast") == "true" else name.tier,
        effort=said.get("effort") or said.get("reasoning") or name.effort,
    )


def _cut_endings(name: _Name) -> Iterator[_Name]:
    """The name as it is, and without each ending that it has, from the last on."""
    while True:
        yield name
        for kind, words in tables().endings.items():
            if match := words.fullmatch(name.name):
                kept = {kind: match["ending"]} if kind in _KEPT else {}
                if kind == "effort" and name.effort:  # `high-thinking`
                    kept = {kind: f"{match['ending']} {name.effort}"}
                name = msgspec.structs.replace(name, name=match["name"], **kept)
                break
        else:
            return


def _sellers(name: _Name, seen: "_Seen") -> Iterator[str]:
    """Whose lists to ask: who was named, who the agent is known to call, the maker."""
    vendor = _vendor(name.name)
    said = [it for it in (seen.named, seen.prefix) if it is not None]
    for seller in dict.fromkeys([*said, *([] if said else [seen.default])]):
        if seller and not _is_at_makers_price(seller.id, name.name):
            yield seller.id
    if vendor is not None:
        yield vendor


class _Found(NamedTuple):
    """A line of a price list, and the model's name in one spelling."""

    seller: str
    id: str
    canonical: str


def _is_at_makers_price(seller: str, name: str) -> bool:
    """Whether a cloud sells the model for what its maker's own list says."""
    words = tables()
    return seller in words.clouds and bool(words.at_makers_price.fullmatch(name))


def _found(name: _Name, seller: str, known: Known) -> _Found | None:
    for spelling in spellings(name.name):
        stands_for = tables().aliases.get(spelling, spelling)
        if id_ := known(seller, stands_for):
            # in lists of Claude's sellers these ids are in one spelling
            is_one = seller in ("anthropic", "google") and id_.startswith("claude-")
            shown = id_.removesuffix("-latest") if is_one else stands_for
            canonical = _DATE.sub("", shown.rpartition("/")[2])
            return _Found(seller, id_, canonical)
    return None


def _resolved(offer: Offer, name: _Name, seen: "_Seen", found: _Found) -> Resolved:
    seller = found.seller
    channel, is_list_price = _sold(name, seen, seller)
    region = _region(name, offer)
    said = seen.named or seen.prefix
    default = seen.default
    is_known_caller = default is not None and (
        default.id == seller or default.channel == "gateway"
    )
    assumed = {
        "vendor": not (seen.provider or said or is_known_caller),
        "list price": is_list_price,
        "region": channel in ("bedrock", "vertex") and region is None,
        "alias": any(it in tables().assumed_aliases for it in spellings(name.name)),
    }
    sells_others = tables().providers[seller].channel != "first-party"
    return Resolved(
        vendor=_vendor(found.canonical) or (None if sells_others else seller),
        canonical_model=found.canonical,
        list_model=found.id,
        channel=channel,
        seller=seller,
        region=region,
        tier=_tier(name, offer, seller),
        context_variant=name.context,
        effort=name.effort,
        assumed=tuple(step for step, was_taken in assumed.items() if was_taken),
    )


def _sold(name: _Name, seen: "_Seen", seller: str) -> tuple[str, bool]:
    """The channel, and whether the maker's list stands in for one that is not known."""
    said = [it for it in (seen.named, seen.prefix) if it is not None]
    asked = said or [it for it in (seen.default,) if it is not None]
    channel = name.channel if name.channel not in (None, "slash") else None
    channel = channel or (asked[0].channel if asked else "first-party")
    if channel in ("bedrock", "vertex"):
        is_own = seller == "aws" or _is_at_makers_price("aws", name.name)
        return channel, not is_own
    is_unknown = seen.provider is not None and seen.named is None
    is_slash = name.channel == "slash" and seen.named is None
    if channel == "first-party" and (is_unknown or is_slash):
        return "gateway", True
    is_other = not asked or seller != asked[0].id
    return channel, is_unknown or (is_other and (bool(said) or channel == "gateway"))


def _vendor(name: str) -> str | None:
    for vendor, pattern in tables().families:
        if pattern.fullmatch(name):
            return vendor
    return None


def _region(name: _Name, offer: Offer) -> str | None:
    """Where it ran; `not_available` and its like say nothing."""
    if name.region:
        return name.region
    region = (offer.region or "").strip().lower()
    return region if region not in ("", "not_available", "unknown", "none") else None


def _tier(name: _Name, offer: Offer, seller: str | None) -> str:
    """The tier that was used: what the name says, else what the record says."""
    words = tables()
    word = name.tier or (offer.service_tier or "").strip().lower()
    if not word or word in words.standard:
        return "standard"
    return words.tiers.get((seller or "", word), word)
