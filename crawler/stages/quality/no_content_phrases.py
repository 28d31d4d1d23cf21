"""Phrases of pages without content, for the recognisers of the quality stage.

English, German, French, Spanish, Italian, Portuguese, Dutch and Polish, in two strengths. A `SAYS` phrase is the page
speaking of itself ("the page you are looking for …"); it counts anywhere in the beginning unless it is quoted. A
`TITLED` phrase ("page not found") is also what articles are about; it counts only where it is a whole line or a whole
part of the title, and on very short pages. Regular expressions, matched on lower-cased text with typewriter
apostrophes; phrases of our own collection.
"""

from __future__ import annotations


def _either(*phrases: str) -> str:
    return "|".join(phrases)


SAYS: dict[str, str] = {
    "soft_404": _either(
        (
            r"(?:sorry|oops|whoops|uh-oh)\b[^.\n]{0,30}(?:page|document|article)[^.\n]{0,40}(?:not|n't"
            r"|no longer|gone|moved|missing)"
        ),
        (
            r"the (?:page|document|article|content|file) (?:that )?you(?:'re| are| were|'ve"
            r"| have)? (?:looking for|requested|tried to|trying to|searching for|followed)"
        ),
        (
            r"we (?:could not|couldn't|can't|cannot|were unable to) find (?:the|that|this|your) (?:page"
            r"|document|article)"
        ),
        r"this page (?:does not|doesn't|no longer) exists?\b",
        r"the requested (?:url|page|resource|document) [^\n]{0,60}(?:not|n't)",
        r"(?:the link you (?:followed|clicked)|this link) (?:may be|might be|is) (?:broken|outdated)",
        r"die (?:von ihnen )?(?:gewünschte|angeforderte|gesuchte|aufgerufene) seite",
        r"diese seite (?:existiert|gibt es) (?:leider )?nicht",
        r"die seite,? die (?:sie|du) (?:suchen|suchst|aufrufen)",
        r"(?:wir konnten|leider konnten wir) die seite nicht finden",
        r"la page (?:que vous (?:recherchez|cherchez|demandez|avez demandée)|demandée|recherchée)",
        r"cette page n'existe (?:pas|plus)",
        r"nous n'avons pas (?:pu trouver|trouvé) (?:la|cette) page",
        r"la página (?:que (?:buscas|busca|está buscando|estás buscando|has solicitado)|solicitada)",
        r"(?:esta|la) página (?:ya )?no existe",
        r"no (?:hemos podido|pudimos) encontrar (?:la|esta) página",
        r"la pagina (?:che (?:stai cercando|cerchi|hai richiesto|sta cercando)|richiesta)",
        r"(?:questa|la) pagina non esiste(?: più)?\b",
        r"non (?:riusciamo|siamo riusciti) a trovare (?:la|questa) pagina",
        (
            r"a página (?:que (?:você )?(?:procura|procurava|está procurando|tentou|solicitou)|solicitada"
            r"|pedida)"
        ),
        r"(?:esta|a) página (?:já )?não existe",
        r"não (?:conseguimos|foi possível) encontrar (?:a|esta) página",
        r"de (?:door u )?(?:opgevraagde|gevraagde|gezochte) pagina",
        r"deze pagina bestaat niet(?: meer)?",
        r"de pagina die (?:je|u) (?:zoekt|zocht|probeert)",
        r"(?:we|wij) (?:kunnen|konden) de pagina niet vinden",
        r"(?:strona|podstrona),? (?:której (?:szukasz|szukałeś|pan szuka)|o którą prosisz)",
        r"(?:ta|szukana|żądana) strona nie (?:istnieje|została)",
        r"nie (?:mogliśmy|udało się|możemy) (?:nam )?znaleźć (?:tej |żądanej )?strony",
    ),
    "login_wall": _either(
        r"(?:please |you (?:must|need to|have to) (?:be )?)(?:log|sign|logged|signed) ?in\b",
        (
            r"(?:log|sign) ?in (?:or (?:register|sign up|create an account) )?to (?:continue|your account"
            r"|view|read|see|access|unlock)"
        ),
        r"subscribe (?:now )?to (?:continue|read|keep|unlock)",
        r"already (?:a subscriber|have an account)\?",
        r"create (?:a free |an )account to (?:continue|read|view)",
        (
            r"this (?:content|article|story|page) is (?:only |exclusively )?(?:for|available to"
            r"|reserved for) (?:our )?(?:subscribers|members|registered)"
        ),
        r"(?:bitte )?(?:melden sie sich|loggen sie sich|melde dich|logge dich) (?:bitte )?(?:an|ein|mit)",
        r"bitte (?:einloggen|anmelden)",
        r"jetzt (?:anmelden|registrieren|abonnieren),? (?:um|und)",
        (
            r"(?:dieser artikel|dieser inhalt) ist (?:nur )?(?:für|unseren) (?:abonnenten|mitglieder"
            r"|registrierte)"
        ),
        r"connectez-vous (?:pour|afin)",
        r"(?:vous devez|veuillez) (?:être connecté|vous connecter|vous identifier)",
        r"(?:article |contenu )?réservé (?:aux|à nos) (?:abonnés|membres)",
        r"inici[ae] sesión para",
        r"(?:debes|debe|tienes que|necesitas) iniciar sesión",
        r"(?:contenido|artículo) (?:exclusivo|reservado) para (?:suscriptores|socios|miembros)",
        r"(?:accedi|effettua (?:il login|l'accesso)|registrati) per",
        r"(?:devi|è necessario) (?:accedere|effettuare (?:il login|l'accesso)|registrarti)",
        r"(?:contenuto|articolo) (?:riservato|esclusivo) (?:agli|per gli) (?:abbonati|iscritti)",
        r"faça (?:o )?login",
        r"inicie sessão para",
        r"(?:você )?precisa (?:de )?(?:estar logado|fazer login|iniciar sessão)",
        r"(?:conteúdo|artigo) (?:exclusivo|reservado) (?:para|a) (?:assinantes|membros)",
        r"(?:log|meld je) (?:hier )?(?:in|aan) om",
        r"(?:je|u) (?:moet|dient) (?:eerst )?(?:inloggen|ingelogd|in te loggen)",
        r"(?:alleen|exclusief) voor (?:abonnees|leden)\b",
        r"zaloguj się,? (?:aby|żeby|by)",
        r"(?:musisz|należy) (?:się zalogować|być zalogowan)",
        (
            r"(?:treść|artykuł) (?:tylko |dostępn[ya] (?:tylko |wyłącznie )?)dla (?:subskrybentów"
            r"|zalogowanych|prenumeratorów)"
        ),
    ),
    "error_page": _either(
        r"verify (?:that )?you(?:'re| are) (?:a |not a )?(?:human|robot)",
        r"checking (?:if|that|your) (?:you are human|browser|the site connection)",
        r"(?:please )?enable (?:javascript|cookies) (?:and|to (?:continue|view|use))",
        r"you (?:don't|do not) have permission to (?:access|view)",
        (
            r"(?:an (?:unexpected |internal )?error (?:has )?occurred|something went wrong)[.!,]? (?:while"
            r"|please|try|we)"
        ),
        r"the server (?:encountered|is temporarily unable|is (?:currently )?(?:overloaded|unavailable))",
        r"(?:site|service|page) is (?:temporarily|currently) (?:unavailable|down|offline)",
        r"error establishing a database connection",
        r"too many requests from",
        r"unusual traffic from your",
        r"(?:es|leider) ist (?:leider )?ein (?:unerwarteter |interner )?fehler aufgetreten",
        (
            r"(?:die|diese) (?:seite|website|webseite) ist (?:vorübergehend|zurzeit"
            r"|derzeit) nicht (?:verfügbar|erreichbar)"
        ),
        r"sie haben keine berechtigung",
        r"une erreur (?:inattendue |interne )?(?:est survenue|s'est produite)",
        r"(?:ce site|le site|ce service|le service) est (?:temporairement|actuellement) indisponible",
        r"vous n'avez pas (?:la permission|l'autorisation|le droit)",
        r"(?:se ha producido|ha ocurrido) un error",
        r"(?:el|este) (?:sitio|servicio) no está disponible (?:temporalmente|en este momento)",
        r"no tiene(?:s)? permiso para",
        r"si è verificato un errore",
        r"(?:il|questo) (?:sito|servizio) (?:è temporaneamente|non è al momento) (?:non )?disponibile",
        r"non (?:hai|si dispone) (?:il|del) permess",
        r"non hai i permessi",
        r"ocorreu um erro",
        r"(?:o|este) (?:site|serviço) (?:está temporariamente|encontra-se) indisponível",
        r"(?:você )?não tem permissão para",
        r"er is (?:een (?:onverwachte )?fout|iets (?:fout|mis)) (?:opgetreden|gegaan)",
        r"(?:de|deze) (?:site|website|dienst) is (?:tijdelijk|momenteel) niet (?:beschikbaar|bereikbaar)",
        r"(?:je|u) hebt? geen (?:toestemming|toegang)",
        r"wystąpił (?:nieoczekiwany |wewnętrzny )?błąd",
        r"(?:strona|usługa|serwis) jest (?:chwilowo|tymczasowo|obecnie) niedostępn",
        r"nie masz uprawnień",
    ),
    "placeholder": _either(
        r"lorem ipsum dolor",
        (
            r"(?:this|our|the) (?:web ?site|site|page) is (?:currently |still )?(?:under construction"
            r"|being built|coming soon)"
        ),
        r"we(?:'re| are) (?:launching|coming) soon",
        r"domain (?:name )?(?:is|may be) (?:for sale|parked)",
        r"buy this domain",
        r"this is the default (?:web ?page|index page|welcome page|server page)",
        r"if you (?:can )?see this page",
        r"welcome to nginx",
        r"apache2? [^\n]{0,20}default page",
        r"just another wordpress site",
        r"welcome to wordpress\. this is your first post",
        r"account (?:has been )?suspended",
        r"hier entsteht (?:in kürze )?(?:eine|unsere|die)",
        (
            r"(?:diese|unsere) (?:seite|website|webseite) (?:befindet sich|ist) (?:derzeit |gerade "
            r"|noch )?im aufbau"
        ),
        r"diese domain (?:steht zum verkauf|kann gekauft werden|ist geparkt)",
        r"(?:ce|notre) site est (?:actuellement )?en (?:cours de )?construction",
        r"(?:ce|notre) site (?:sera|arrive) bientôt",
        r"ce nom de domaine est (?:à vendre|en vente)",
        r"(?:este|nuestro) (?:sitio|página|sitio web) está en construcción",
        r"(?:nuestra|esta) (?:web|página) está en construcción",
        r"este dominio está (?:en venta|aparcado|a la venta)",
        r"(?:questo|il nostro) sito è in (?:costruzione|allestimento)",
        r"questo dominio è in vendita",
        r"(?:este|o nosso|nosso) site está em construção",
        r"este domínio está à venda",
        r"(?:deze|onze) (?:site|website|pagina) is (?:momenteel |nog )?(?:in aanbouw|onder constructie)",
        r"deze domeinnaam is te koop",
        r"dit domein is te koop",
        r"(?:ta|nasza) strona jest (?:obecnie |jeszcze )?w (?:budowie|przygotowaniu)",
        r"ta domena jest na sprzedaż",
    ),
    "consent_wall": _either(
        r"we (?:value|respect|care about) your privacy",
        (
            r"we(?: and our (?:[\d,.]{1,6} )?(?:trusted )?partners)?,? (?:may )?(?:use|store|process|set)\b[^.\n]{0,60}"
            r"(?:cookies|information on (?:a|your) device)"
        ),
        r"(?:this|our) (?:web ?)?site uses cookies",
        r"(?:wir (?:schätzen|respektieren) (?:ihre|deine) privatsphäre|ihre privatsphäre ist uns wichtig)",
        (
            r"wir(?: und unsere (?:[\d.]{1,6} )?partner)? (?:verwenden|nutzen|benutzen|setzen|speichern)\b[^.\n]{0,60}"
            r"(?:cookies|informationen auf einem (?:end)?gerät)"
        ),
        r"diese (?:website|webseite|seite) (?:verwendet|nutzt|benutzt) cookies",
        r"(?:nous respectons|le respect de) votre vie privée",
        r"nous(?: et nos (?:[\d ]{1,6} )?partenaires)? (?:utilisons|stockons|déposons)\b[^.\n]{0,60}cookies",
        r"(?:ce|notre) site (?:web )?utilise des cookies",
        r"(?:respetamos|valoramos) (?:tu|su) privacidad",
        r"(?:nosotros y nuestros (?:[\d.]{1,6} )?socios )?(?:utilizamos|usamos|almacenamos)\b[^.\n]{0,60}cookies",
        r"(?:este|nuestro|esta) (?:sitio|página)? ?(?:web )?(?:utiliza|usa) cookies",
        r"(?:rispettiamo|diamo valore alla) (?:la )?(?:tua|vostra) privacy",
        r"(?:noi e i nostri (?:[\d.]{1,6} )?partner )?(?:utilizziamo|usiamo|archiviamo)\b[^.\n]{0,60}cookie",
        r"questo sito (?:web )?(?:utilizza|usa) (?:i )?cookie",
        r"(?:valorizamos|respeitamos) a (?:sua|tua) privacidade",
        r"(?:nós e os nossos (?:[\d.]{1,6} )?parceiros )?(?:utilizamos|usamos|armazenamos)\b[^.\n]{0,60}cookies",
        r"este (?:web)?site (?:utiliza|usa) cookies",
        r"(?:wij|we) (?:waarderen|respecteren) (?:uw|je) privacy",
        r"(?:wij|we) (?:en onze (?:[\d.]{1,6} )?partners )?(?:gebruiken|plaatsen|slaan)\b[^.\n]{0,60}cookies",
        r"deze (?:website|site) (?:maakt gebruik van|gebruikt) cookies",
        r"(?:cenimy|szanujemy) (?:twoją|państwa) prywatność",
        r"(?:używamy|wykorzystujemy|korzystamy z)\b[^.\n]{0,60}(?:cookie|ciastecz)",
        r"(?:ta|nasza) (?:strona|witryna) (?:używa|korzysta z|wykorzystuje)\b[^.\n]{0,20}cookie",
    ),
}
"""What a page says of itself, by drop reason."""

CONSENT = r"cookie|consent|information on a device|einwillig|zustimm|consenso|toestemming|\bzgod[aęyzą]|ciastecz"
"""What a request for consent speaks of."""
DATA = _either(
    r"consent|privac|personali[sz]|advert|analy[sz]|preferenc|partner|third part|social media|personal data",
    r"einwillig|zustimm|datenschutz|privatsphäre|werbung|anzeigen|präferenz|soziale medien",
    r"personnalis|vie privée|confidentialit|publicit|préféren|partenaire|annonces|données",
    r"publicidad|anuncios|socios|datos|parceiros|anúncios|dados|pubblicit|annunci|terze parti",
    r"toestemming|advertenti|voorkeur|gegevens|\bzgod[aęyzą]|prywatno|reklam|preferencj",
)
"""What it wants consent for."""

_CODE = r"(?:error|http|status|code|fehler|erreur|errore|erro|fout|błąd)?[ :]*(?:404|410)(?: (?:error|fehler))?"
_NOT_FOUND = _either(
    r"(?:oops|sorry|whoops)?[ !,.]*(?:this |the )?page (?:was |could )?not (?:be )?found",
    r"not found",
    r"page (?:introuvable|non trouvée)",
    r"(?:die )?seite (?:wurde )?(?:leider )?nicht gefunden",
    r"(?:la )?página no encontrada",
    r"pagina non trovata",
    r"página não encontrada",
    r"pagina niet gevonden",
    r"nie znaleziono strony",
    r"strona nie (?:została znaleziona|istnieje)",
    r"nothing (?:was )?found(?: here)?",
)

TITLED: dict[str, str] = {
    "soft_404": _either(
        rf"{_CODE}(?:[ .:,!]*(?:{_NOT_FOUND}))?",
        rf"(?:{_NOT_FOUND})(?:[ :]*\(?{_CODE}\)?)?",
    ),
    "login_wall": _either(
        r"(?:log|sign) ?in",
        r"login(?: required)?",
        r"members only",
        r"subscribers only",
        r"anmeldung(?: erforderlich)?",
        r"anmelden",
        r"connexion(?: requise)?",
        r"iniciar sesión",
        r"accesso riservato",
        r"accedi",
        r"entrar",
        r"iniciar sessão",
        r"inloggen",
        r"logowanie",
        r"zaloguj się",
    ),
    "error_page": _either(
        (
            r"(?:error[ :]*)?(?:403|500|502|503|504)(?: (?:error|forbidden|internal server error|bad gateway"
            r"|service (?:temporarily )?unavailable|gateway time-?out))?"
        ),
        r"forbidden",
        r"access denied",
        r"internal server error",
        r"bad gateway",
        r"service (?:temporarily )?unavailable",
        r"just a moment",
        r"attention required!?",
        r"zugriff verweigert",
        r"accès refusé",
        r"acceso denegado",
        r"accesso negato",
        r"acesso negado",
        r"toegang geweigerd",
        r"brak dostępu",
        r"dostęp zabroniony",
    ),
    "placeholder": _either(
        r"coming soon",
        r"under construction",
        r"site under construction",
        r"parked domain",
        r"domain for sale",
        r"default web page",
        r"it works",
        r"hello world",
        r"index of /.{0,100}",
        r"im aufbau",
        r"demnächst(?: verfügbar)?",
        r"en construction",
        r"prochainement",
        r"en construcción",
        r"próximamente",
        r"in costruzione",
        r"prossimamente",
        r"em construção",
        r"em breve",
        r"in aanbouw",
        r"binnenkort(?: online)?",
        r"w budowie",
        r"wkrótce",
    ),
}
"""What such a page is headed, by drop reason: the whole of a line, or of a part of the title."""
