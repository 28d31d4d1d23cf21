"""Personal data in languages whose scripts put no space around it, and in those whose words came last."""

import pytest

from crawler.config import from_mapping
from crawler.stages.pii import checks
from crawler.stages.pii.redact import Placeholders, redact
from crawler.stages.pii.scripts import words_before
from crawler.stages.pii.stage import PiiStage


@pytest.fixture(scope="module")
def stage():
    return PiiStage(from_mapping({"PII_PERSON": "off"}).pii)


def redacted(stage, text, language):
    return redact(text, stage.hits(text, language), Placeholders())[0]


GLUED = [
    ("zh", "联系mei@qq.com或来电", "联系[EMAIL_ADDRESS]或来电"),
    ("zh", "请写信到li.mei@shan.com.cn，谢谢", "请写信到[EMAIL_ADDRESS]，谢谢"),
    ("ja", "ご質問はmei@yama-to.co.jpまでお願いします", "ご質問は[EMAIL_ADDRESS]までお願いします"),
    ("ko", "문의는 mei@naver.com으로 보내 주세요", "문의는 [EMAIL_ADDRESS]으로 보내 주세요"),
    ("th", "ติดต่อmei@siam.co.thได้ทุกวัน", "ติดต่อ[EMAIL_ADDRESS]ได้ทุกวัน"),
    ("zh", "写信到mei（at）qq.com即可", "写信到[EMAIL_ADDRESS]即可"),
    ("hu", "Írjon az info@patak.hu-ra még ma.", "Írjon az [EMAIL_ADDRESS]-ra még ma."),
    ("en", "Email: info@mill-pond.comPhone: on request", "Email: [EMAIL_ADDRESS]Phone: on request"),
    ("ja", "お問い合わせは電話045-661-2345まで。", "お問い合わせは電話[PHONE_NUMBER]まで。"),
    ("ko", "전화는 02-734-5678입니다.", "전화는 [PHONE_NUMBER]입니다."),
    ("zh", "请拨打010-65231234转801咨询", "请拨打[PHONE_NUMBER]咨询"),
    ("zh", "手机13911234567联系", "手机[PHONE_NUMBER]联系"),
    ("ja", "IPアドレス81.2.69.142からの接続", "IPアドレス[IP_ADDRESS]からの接続"),
    ("zh", "卡号4532015112830366已冻结", "卡号[CREDIT_CARD]已冻结"),
    ("zh", "他的身份证号是11010519491231002X。", "他的身份证号是[CN_RESIDENT_ID]。"),
    ("ja", "マイナンバーは123456789018です", "マイナンバーは[JP_MY_NUMBER]です"),
]


@pytest.mark.parametrize(("language", "text", "wanted"), GLUED)
def test_what_touches_a_word_of_a_script_without_spaces_is_found_and_the_word_stays(stage, language, text, wanted):
    assert redacted(stage, text, language) == wanted


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ar", "هاتف: ٠٥٠٥٤٤٧١٢٣"),
        ("fa", "تلفن: ۰۲۱-۴۴۷۱۲۳۳۴"),
        ("hi", "फ़ोन: ०११-२४४७१२३३"),
        ("ja", "電話：０３−４４７１−２３３５"),
    ],
)
def test_a_telephone_number_in_the_digits_of_another_script_is_found(stage, language, text):
    assert redacted(stage, text, language).endswith(" [PHONE_NUMBER]" if " " in text else "：[PHONE_NUMBER]")


LABELLED = [
    ("el", "Τηλέφωνο: 2310 558123"), ("el", "Κινητό 6944 558123"), ("ro", "Mobil: 0722 558 123"),
    ("hu", "Telefonszám: 06 62 558 123"), ("bg", "Телефон: 0888 558 123"), ("sr", "Телефон: 064 558 1233"),
    ("hr", "Mobitel: 091 558 1233"), ("sl", "GSM: 041 558 123"), ("lv", "Tālr. 67 558 123"), ("is", "Sími: 558 7123"),
    ("lt", "Tel. (8 5) 255 8123"), ("vi", "ĐT: 024 3558 1233"), ("th", "โทรศัพท์ 02-558-1233"),
    ("he", "נייד 054-5581233"), ("fa", "موبایل: 09125581233"), ("ur", "موبائل: 0300-5581233"),
    ("hi", "मोबाइल: 98105 58123"), ("bn", "মোবাইল: 01711-558123"), ("ta", "தொலைபேசி: 044-25581233"),
    ("uk", "Телефонуйте 0 800 558 123"), ("es", "☎ 91 558 12 33"), ("de", "📞 0351 5581233"),
    ("fr", "Tél. : 514 855-8123"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text"), LABELLED)
def test_a_labelled_local_number_is_found_in_further_languages(stage, language, text):
    assert redacted(stage, text, language).endswith("[PHONE_NUMBER]")


NUMBERS = [
    ("bg", "ЕГН 7523169263", "BG_EGN"), ("hr", "OIB: 33392005961", "HR_OIB"), ("sl", "EMŠO 0101006500006", "YU_JMBG"),
    ("et", "isikukood 36805280109", "EE_ISIKUKOOD"), ("lt", "asmens kodas 33309240064", "LT_ASMENS_KODAS"),
    ("lv", "personas kods 161175-19997", "LV_PERSONAS_KODS"), ("is", "kennitala 120174-3399", "IS_KENNITALA"),
    ("el", "ΑΜΚΑ 01013099997", "GR_AMKA"), ("hu", "adóazonosító jele 8071592153", "HU_TAX_ID"),
    ("hu", "TAJ szám: 111 111 110", "HU_TAJ"), ("ru", "ИНН 500100732259", "RU_INN"),
    ("ru", "СНИЛС 112-233-445 95", "RU_SNILS"), ("uk", "РНОКПП 1759013776", "UA_RNTRC"),
    ("he", "ת.ז. 3933742-3", "IL_ID"), ("zh", "身分證字號A123456789", "TW_NATIONAL_ID"),
    ("th", "เลขประจำตัวประชาชน 1-2345-45678-78-1", "TH_TNIN"), ("es", "cédula 171430710-3", "EC_CEDULA"),
    ("es", "cédula No. 001-1391820-5", "DO_CEDULA"), ("ms", "No. kad pengenalan 770305-02-1234", "MY_NRIC"),
    ("id", "NIK 3171011708450001", "ID_NIK"), ("pl", "nr konta 61 1090 1014 0000 0712 1981 2874", "IBAN_CODE"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text", "entity"), NUMBERS)
def test_a_number_of_a_further_country_goes_with_its_label_and_stays_without_one(stage, language, text, entity):
    assert redacted(stage, text, language).endswith(f"[{entity}]")
    number = text[next(i for i, c in enumerate(text) if c.isdigit()) :]
    assert redacted(stage, f"nr. {number}", language) == f"nr. {number}"


DECOYS = [
    ("ja", "平成12年4月7日、1,447,123人が参加した。"), ("zh", "全市共有447123345人，2010-2014年增长。"),
    ("ko", "2023-07-14일까지 1,447,123명이 찾았다."), ("zh", "国发〔2012〕44号，GB/T 7714-2015标准"),
    ("zh", "版本10.0.19041.1发布"), ("ja", "RFC 5321、ISBN978-4-10-109205-7を参照"),
    ("ar", "٢٠٢٣/٠٧/١٤ و ١٤٤٧١٢٣ نسمة"), ("hi", "१४/०७/२०२३ को १,४४७,१२३ लोग"),
    ("en", "HP 4471233 and WA 98101-1234"), ("pt", "CEP 01310-100, caixa postal 1234"),
    ("en", "this@MainActivity.toString() and failure@svc.service-x"), ("zh", "订单号20231104471233445已发货"),
    ("ru", "ИНН 7707083893 (юридическое лицо)"), ("is", "kennitala 450401-3150"),
    ("en", "Sizes of the sample: 4018 4349 4220 4632 5041 5490 6775 9878"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text"), DECOYS)
def test_dates_counts_versions_and_companies_stay_in_every_script(stage, language, text):
    assert redacted(stage, text, language) == text


@pytest.mark.parametrize("text", [text for _, text, _ in GLUED])
def test_a_redacted_text_has_nothing_more_to_redact(stage, text):
    once = redacted(stage, text, "zh")
    assert redacted(stage, once, "zh") == once


def test_a_name_in_a_script_without_spaces_is_part_of_its_address(stage):
    assert words_before("用户") == 0
    assert words_before("写信到anna") == 3
    assert words_before("müller") == 0
    assert redacted(stage, "邮箱：用户@例子.公司", "zh") == "邮箱：[EMAIL_ADDRESS]"


@pytest.mark.parametrize(
    ("glued", "domain"),
    [
        ("qq.com或来电", "qq.com"),
        ("patak.hu-ra", "patak.hu"),
        ("mill-pond.comPhone", "mill-pond.com"),
        ("yama.co.jpまで", "yama.co.jp"),
        ("MainActivity.toString", None),
        ("svc.service-x", None),
        ("2x.png", None),
    ],
)
def test_a_domain_ends_where_its_last_label_is_no_longer_a_top_level_domain(glued, domain):
    assert checks.mail_domain(glued) == domain
