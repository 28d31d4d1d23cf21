"""Phrases with which a shop, a market or a board of jobs says that what the page was about is gone.

They count as `soft_404` where they stand in the beginning of a short page (`no_content.py`). In the present tense and
of *this* thing: news say that "the position was filled by", and a page that sells other colours is none. Regular
expressions, matched on lower-cased text with typewriter apostrophes; phrases of our own collection.
"""

from __future__ import annotations

_THING = (
    r"(?:product|item|listing|ad(?:vert(?:isement)?)?|classified|offer|deal|job(?: (?:posting|offer|ad|listing))?"
    r"|position|vacancy|property|event|auction|video|post|page|recipe|book|model)"
)
_SOFTLY = r"(?:,? ?(?:now|currently|unfortunately|sadly|already|sorry),? )?"

GONE = "|".join(
    (
        rf"(?:this|the) {_THING} (?:you(?:'re| are) (?:looking for|trying to (?:view|reach)) |you requested )?"
        rf"(?:is|has been) ?{_SOFTLY} ?no longer (?:available|listed|for sale|active|offered|sold"
        r"|on the market)(?! (?:in|from|on|at|with|for|to|as|outside|through|via)\b)",
        rf"this {_THING} (?:has|is) ?{_SOFTLY} ?(?:been )?(?:discontinued|removed|deleted|withdrawn|expired|closed"
        r"|filled)(?=[.!,]|\n|$| (?:by (?:the|its) (?:seller|owner|user|author)|and ))",
        r"(?:dieser|dieses|diese|der|das|die) (?:von ihnen gesuchte )?(?:artikel|produkt|angebot|anzeige|stelle"
        r"|stellenanzeige|inserat|immobilie|auktion|video|buch) (?:ist|wurde|wird) (?:leider |zurzeit |inzwischen )?"
        r"(?:nicht (?:mehr|länger) (?:verfügbar|lieferbar|erhältlich|aktiv|online|angeboten|im sortiment)"
        r"|(?:bereits )?(?:deaktiviert|gelöscht|entfernt|abgelaufen|vergriffen))(?=[.!,]|\n|$)",
        r"(?:ce produit|cet article|cette (?:offre|annonce|vidéo)|ce livre) (?:n'est (?:malheureusement )?plus"
        r" (?:disponible|en ligne|en vente|commercialisée?|proposée?)"
        r"|(?:a|est) (?:été )?(?:supprimée?|retirée?|expirée?))"
        r"(?=[.!,]|\n|$)",
        r"(?:este (?:producto|artículo|anuncio|vídeo|libro)|esta (?:oferta|publicación|vacante)) (?:ya no (?:está|se"
        r" encuentra) (?:disponible|activ[oa]|a la venta)|ha (?:sido (?:eliminad|retirad)[oa]|caducado|expirado))"
        r"(?=[.!,]|\n|$)",
        r"(?:questo (?:prodotto|articolo|annuncio|video|libro)|quest[ao] ?'?(?:offerta|inserzione))"
        r" (?:non è (?:purtroppo )?più (?:disponibile|in vendita|attiv[oa])"
        r"|è (?:stat[oa] (?:rimoss|eliminat)[oa]|scadut[oa]))(?=[.!,]|\n|$)",
        r"(?:este (?:produto|artigo|anúncio|vídeo|livro)|esta (?:oferta|vaga)) (?:já não está|não está mais|deixou de"
        r" estar) (?:disponível|à venda|ativ[oa])(?=[.!,]|\n|$)",
        r"(?:dit (?:product|artikel|boek)|deze (?:advertentie|aanbieding|vacature|video)) (?:is|wordt) (?:helaas )?niet"
        r" (?:meer|langer) (?:beschikbaar|leverbaar|actief|verkrijgbaar|verkocht)(?=[.!,]|\n|$)",
        r"(?:ten (?:produkt|artykuł)|to ogłoszenie|ta (?:oferta|aukcja|książka)) (?:jest (?:już )?(?:niedostępn[yae]"
        r"|nieaktualn[yae])|nie jest już dostępn[yae]|wygasł[ao]?|został[ao]? (?:usunięt[yae]|zakończon[yae]))"
        r"(?=[.!,]|\n|$)",
    )
)
