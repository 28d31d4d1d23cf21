"""The language stage maps ISO 639-3 codes to the two-letter code this project writes instead.

Facts of the registration authority's table (https://iso639-3.sil.org), individual languages under their macrolanguage
(Egyptian Arabic is "ar", Mandarin "zh"). Identifiers with many languages (GlotLID) answer in these codes.
"""

from __future__ import annotations

_PAIRS = (
    "abk=ab acm=ar aeb=ar afr=af ajp=ar aka=ak aln=sq als=sq amh=am apc=ar ara=ar arb=ar arg=an arq=ar ars=ar ary=ar "
    "arz=ar asm=as ava=av aym=ay ayp=ar ayr=ay azb=az aze=az azj=az bak=ba bam=bm bel=be ben=bn bis=bi bjn=ms bod=bo "
    "bos=bs bre=br bul=bg cat=ca ces=cs cha=ch che=ce chu=cu chv=cv ckb=ku cmn=zh cnr=sh cor=kw cos=co cre=cr crj=cr "
    "crk=cr crl=cr crm=cr csw=cr cwd=cr cym=cy dan=da deu=de div=dv dty=ne dzo=dz ekk=et ell=el eng=en epo=eo esi=ik "
    "esk=ik est=et eus=eu ewe=ee fao=fo fas=fa fat=ak ffm=ff fij=fj fil=tl fin=fi fra=fr fry=fy fub=ff fue=ff fuf=ff "
    "fuh=ff ful=ff fuq=ff fuv=ff gaz=om gla=gd gle=ga glg=gl glv=gv gnw=gn grn=gn gug=gn gui=gn guj=gu gun=gn hae=om "
    "hak=zh hat=ht hau=ha hbs=sh heb=he her=hz hin=hi hmo=ho hrv=hr hun=hu hye=hy ibo=ig ido=io ike=iu ikt=iu iku=iu "
    "ile=ie ina=ia ind=id ipk=ik isl=is ita=it jav=jv jpn=ja kal=kl kan=kn kas=ks kat=ka kau=kr kaz=kk kby=kr khk=mn "
    "khm=km kik=ki kin=rw kir=ky kmr=ku knc=kr kng=kg koi=kv kom=kv kon=kg kor=ko kpv=kv kua=kj kur=ku kwy=kg lao=lo "
    "lat=la lav=lv ldi=kg lim=li lin=ln lit=lt ltg=lv ltz=lb lub=lu lug=lg lvs=lv lzh=zh mah=mh mal=ml mar=mr max=ms "
    "min=ms mkd=mk mlg=mg mlt=mt mon=mn mri=mi msa=ms mui=ms mya=my nav=nv nbl=nr nde=nd ndo=ng nep=ne nhd=gn nld=nl "
    "nno=nn nob=no nor=no npi=ne nya=ny oci=oc ojb=oj oji=oj ori=or orm=om ory=or oss=os otw=oj pan=pa pbt=ps plt=mg "
    "pol=pl por=pt pse=ms pus=ps qub=qu que=qu quf=qu qug=qu quh=qu qul=qu qup=qu qus=qu quw=qu quy=qu quz=qu qva=qu "
    "qvc=qu qve=qu qvh=qu qvi=qu qvm=qu qvn=qu qvo=qu qvs=qu qvw=qu qvz=qu qwh=qu qxh=qu qxl=qu qxn=qu qxo=qu qxr=qu "
    "roh=rm ron=ro run=rn rus=ru sag=sg san=sa sdc=sc sdh=ku shu=ar sin=si skg=mg slk=sk slv=sl sme=se smo=sm sna=sn "
    "snd=sd som=so sot=st spa=es sqi=sq srd=sc srp=sr ssw=ss sun=su swa=sw swc=sw swe=sv swh=sw tah=ty tam=ta tat=tt "
    "tdx=mg tel=te tgk=tg tgl=tl tha=th tir=ti ton=to tsn=tn tso=ts tuk=tk tur=tr twi=tw uig=ug ukr=uk urd=ur urk=ms "
    "uzb=uz uzn=uz uzs=uz ven=ve vie=vi vol=vo vro=et wln=wa wol=wo wuu=zh xho=xh xmm=ms xmv=mg ydd=yi yid=yi yor=yo "
    "yue=zh zha=za zho=zh zsm=ms zul=zu zyb=za "
)

ISO_639_1: dict[str, str] = {long: short for long, _, short in (pair.partition("=") for pair in _PAIRS.split())}
"""ISO 639-3 → ISO 639-1."""
