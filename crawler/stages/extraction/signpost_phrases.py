"""Signpost phrases are how lines begin that only point somewhere else: the data of `signposts.py`.

One regular expression a line, lower case, matched without regard to case; `#` begins a comment. No two unbounded
repetitions of the same characters in one line: matching has to stay linear.
"""

from __future__ import annotations

import re

LEAD_INS = r"""
# English
read (?:more|also|next|on)
also read
more from .{1,60}
related(?: (?:articles?|stor(?:y|ies)|posts?|content|news|reading|links?|topics?|coverage))
you (?:may|might) also (?:like|enjoy|be interested in)
recommended (?:for you|reading|stories|articles)
(?:most|popular|trending) (?:read|viewed|now|stories|posts)
don'?t miss
editors?'?s'? picks?
(?:watch|listen|see) (?:more|now|next)
up next
story continues below.*
article continues (?:below|after).*
advertisements?
sponsored(?: (?:content|by .{1,60}))?
promoted
# German
lesen sie (?:auch|mehr|hier|dazu).{0,40}
lies auch
(?:mehr|weiteres?|alles) zum thema.{0,40}
auch (?:interessant|lesenswert|auf .{1,40})
(?:das )?(?:thema )?(?:könnte|k\u00f6nnten) (?:sie|dich|euch|ihnen) auch .{4,40}
das (?:könnte|dürfte|wird) (?:sie|dich|euch|ihnen) .{0,10}(?:interessieren|gefallen)
weiterlesen(?: .{1,40})?
mehr (?:dazu|aus|von|lesen) ?.{0,40}
passend(?:e artikel)? (?:dazu|zum thema)
ähnliche (?:artikel|beiträge|themen)
verwandte (?:artikel|beiträge|themen)
meistgelesen.{0,20}
anzeige
werbung
interessant(?:e artikel)? für (?:sie|dich)
# French
(?:à )?(?:lire|voir|découvrir|écouter) (?:aussi|également)
lire la suite.{0,40}
sur le même (?:sujet|thème)
(?:articles?|contenus?) (?:similaires?|liés?|associés?|recommandés?)
vous aimerez (?:aussi|peut-être).{0,20}
pour aller plus loin
publicité
les plus lus
à ne pas manquer
# Spanish, Portuguese
(?:leer|ver|lea|lee|leia|veja|saiba) (?:también|tambien|também|mais|más)
(?:artículos?|notas?|noticias?|artigos?|notícias?|matérias?) relacionad[ao]s?
te puede interesar
(?:le|te) (?:puede|podría) interesar
publicidad
publicidade
lo más (?:leído|visto)
mais (?:lidas|vistas)
continúa leyendo
continue lendo
leia mais.{0,40}
# Italian
leggi anche
(?:continua a )?leggere? (?:anche|di più|tutto|l'articolo)
(?:articoli|notizie) correlat[ie]
potrebbe(?:ro)? (?:anche )?interessar(?:ti|vi)
pubblicità
i più letti
# Dutch
lees (?:ook|meer|verder|hier).{0,40}
(?:gerelateerde?|verwante) (?:artikelen|berichten|onderwerpen)
meer over .{1,40}
advertentie
meest gelezen
# Polish, Czech
(?:czytaj|przeczytaj|zobacz|sprawdź) (?:też|także|również|więcej)
(?:powiązane|podobne|polecane) (?:artykuły|wpisy|tematy)
reklama
(?:čtěte|přečtěte si|mohlo by vás) (?:také|i|zajímat)
související články
# Scandinavian, Finnish
läs (?:också|även|mer)
læs (?:også|mere)
les (?:også|mer)
(?:annons|annonce|annonse)
lue (?:myös|lisää)
# Russian, Ukrainian, Turkish, Greek
(?:читайте|смотрите) (?:также|ещё|еще|далее)
читайте (?:також|ще)
по теме
реклама
(?:bunlar|bu) da ilginizi çekebilir
ilgili haberler
διαβάστε (?:επίσης|περισσότερα|ακόμη)
"""
"""The whole line, or followed by a colon or an arrow and a headline."""

CONTROLS = r"""
# English
(?:view|show|see|read|hide|load)(?: all| more)?(?: \d+)? (?:comments?|repl(?:y|ies))
(?:leave|post|write|add) a (?:comment|reply)
(?:\d+|no) (?:comments?|repl(?:y|ies)|shares?|views?|likes?)
comments? ?[:(] ?\d+\)?
reply
join the (?:conversation|discussion)
share (?:this|on|via|with)(?: .{1,40})?
(?:tweet|pin|print|e-?mail|save) (?:this|it|article|page|story)(?: .{1,20})?
follow (?:us|me|@\w+)(?: on .{1,60})?
follow (?!the |these |this |any |all |each |its |an? ).{1,60} on (?:x|twitter|facebook|instagram|linkedin).{0,60}
follow (?!the |these |this |any |all |each |its |an? ).{1,60} on (?:youtube|tiktok|mastodon|bluesky).{0,60}
follow (?!the |these |this |any |all |each |its |an? ).{1,60} on (?:threads|flipboard|google news|medium).{0,60}
(?:we|this (?:web)?site) uses? cookies.{0,160}
(?:accept|reject|manage) (?:all )?(?:cookies|consent|preferences)
# form labels and their small print
(?:first |last |full |your |user)?name ?(?:\*|\(required\))
(?:your )?e-?mail(?: address)? ?(?:\*|\(required\))
(?:phone|telephone|company|subject|message|comment|website)(?: number| name)? ?(?:\*|\(required\))
(?:country|state|city|zip(?: code)?) ?(?:\*|\(required\))
your e-?mail address will not be published.{0,60}
(?:all )?required fields are marked.{0,20}
(?:\* ?)?(?:indicates|denotes) (?:a )?required(?: fields?)?
save my name, e-?mail.{0,120}
this field is for validation purposes.{0,60}
(?:like|find) us on .{1,40}
back to (?:top|the top|home|overview|main).{0,20}
skip to (?:main )?content
(?:log|sign) ?in to (?:comment|reply|continue).{0,40}
sign up (?:now|today|here|for .{1,60})
subscribe (?:now|today|here|to our .{1,60})
click here .{1,80}
loading ?(?:…|\.\.\.)
(?:previous|next) (?:article|post|page|story)
filed (?:under|in) ?:?.{1,80}
posted (?:in|by|on) .{1,80}
tags ?: .{1,60},.{1,60}
all rights reserved.{0,60}
our standards: .{1,80}
# German
(?:kommentare?|antworten)(?: (?:insgesamt|schreiben|verfassen|hinterlassen|abgeben|lesen))?(?: ?[:(] ?\d*\)?)?(?: ?\|)?
(?:\d+|keine) kommentare?
(?:artikel |beitrag |seite )?(?:teilen|drucken|merken|versenden)(?: auf .{1,40})?
(?:zurück )?nach oben
zur (?:startseite|übersicht)
jetzt (?:anmelden|registrieren|abonnieren)
folgen? (?:sie|du|uns) .{1,60}
(?:vor-? ?und nach|vor|nach|ihr |dein )?name ?\*
(?:ihre |deine )?e-?mail(?:-adresse)? ?\*
(?:ihre|deine) e-?mail-adresse wird nicht veröffentlicht.{0,80}
(?:erforderliche felder sind|pflichtfelder|\* ?pflichtfeld).{0,60}
# French
(?:laisser|écrire|ajouter) un commentaire
(?:\d+|aucun) commentaires?
partager(?: sur .{1,40})?
imprimer
retour en haut.{0,20}
suivez-nous .{1,60}
votre adresse e-?mail ne sera pas publiée.{0,80}
les champs obligatoires .{1,50}
(?:abonnez|inscrivez)-vous(?: .{1,60})?
# Spanish, Portuguese
(?:deja|dejar|publicar) un comentario
(?:\d+|sin) comentarios?
compartir(?: en .{1,40})?
síguenos .{1,60}
tu dirección de correo electrónico no será publicada.{0,80}
los campos obligatorios .{1,50}
# Italian
(?:lascia|scrivi) un commento
(?:\d+|nessun) commenti?
condividi(?: su .{1,40})?
(?:deixe|escreva) um comentário
compartilh(?:e|ar)(?: .{1,40})?
# Dutch
(?:\d+|geen) reacties?
(?:deel|delen)(?: (?:op|via) .{1,40})?
# Polish, Czech
(?:dodaj|zostaw) komentarz
udostępnij(?: .{1,40})?
komentarze ?\(?\d*\)?
# Russian, Ukrainian, Turkish, Greek
поделиться(?: .{1,40})?
комментарии ?\(?\d*\)?
"""
"""The whole line: buttons, forms and counters that were text on the page."""

SHARERS = r"""
tweet
share
pin(?: it)?
print
e-?mail
like
whatsapp
facebook
twitter
linkedin
reddit
pinterest
pocket
telegram
"""
"""Several in a line, with bars between them, or one with a bar beside it: the row of buttons of a page."""

CREDITS = r"""
\(?(?:photo|image|picture|photograph|video|illustration|graphic)s? ?(?:credits?|by|courtesy|source|via) ?[:©]
\(?credits? ?:
\(?photos? ?[:©]
(?:beitrags|titel|artikel|vorschau)(?:bild|foto) ?:
(?:bild|foto)(?:quelle|credits?|nachweis|s)? ?[:©]
(?:crédits?(?: photos?)?|image illustrative|illustration) ?[:©]
(?:foto|imagen|imagem|immagine)s? ?[:©]
(?:zdjęcie|fot\.?|foto) ?:
©.{0,40}(?:getty|reuters|afp|dpa|ap photo|istock|shutterstock|imago|alamy|picture alliance)
фото ?:
"""
"""The beginning of a short line that names who made a picture."""


FORMS = r"""
newsletter
(?:storing|use|storage) of cookies
privacy policy
datenschutz(?:erkl|best|-)
politique de confidentialité
política de privacidad
informativa sulla privacy
privacybeleid
polityk\w+ prywatności
"""
"""Somewhere in a line, together with an invitation: a form that asks for an address, or its small print."""

INVITATIONS = r"""
# English
sign(?:ing)? up
subscribe
register
get the (?:best|latest)
delivered to your
by (?:clicking|submitting|subscribing|entering|continuing)
you (?:agree|consent) to
# German
anmeld
abonnier
registrier
bestellen
erhalten sie
akzeptier
# French
abonne[rz]
inscri(?:re|vez|vant)
recevez
# Spanish, Portuguese, Italian
suscr[ií]b
inscr(?:íb|ib|ev)
iscri(?:viti|versi)
# Dutch, Polish
inschrijv
schrijf je in
meld je aan
zapisz się
subskryb
"""
"""How the words begin that invite to leave an address."""


def alternatives(phrases: str) -> str:
    """All phrases of a table as one group."""
    return "(?:" + "|".join(_phrases(phrases)) + ")"


def literals(phrases: str) -> tuple[str, ...]:
    """The longest stretch of plain letters in each phrase of a table: without one of them none of the phrases match."""
    return tuple(max(_VARIABLE.split(phrase), key=len) for phrase in _phrases(phrases))


_VARIABLE = re.compile(r"\(\?:[^()]*+\)|\\w\+")
"""What varies in a phrase whose literals are asked for; other constructs do not stand in such a table."""


def _phrases(phrases: str) -> list[str]:
    lines = (line.strip() for line in phrases.splitlines())
    return [line for line in lines if line and not line.startswith("#")]
