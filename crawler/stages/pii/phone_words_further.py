"""Words of further languages for what a number is instead of a telephone number: an order, an article, a contract.

Beside those of `phone_words`, with the forms in which they stand before a number ("Narudžba br.", "Αρ. παραγγελίας").
"""

from __future__ import annotations

OTHER_NUMBER = """
cod codul produs produsului produsul articol articolul comandă comanda comenzii factură factura facturii serie seria
colet coletului poliță polița dosar dosarul abonat chitanță chitanța
cikk cikkszám termék termékkód rendelés rendelési számla számlaszám szerződés ügyfél csomag sorozat gyári kód
artikl artikal artikla šifra šifre šifri proizvod proizvoda izdelek izdelka narudžba narudžbe narudžbina narudžbine
porudžbina porudžbine naročilo naročila račun računa faktura fakture ugovor ugovora pogodba pogodbe pošiljka pošiljke
kataloški serijski serijska inventarni polica police predmet
objednávka objednávky objednávce faktura faktury faktúra faktúry zboží tovar tovaru smlouva smlouvy zmluva zmluvy
zásilka zásilky zásielka zásielky kód kódu výrobek výrobku výrobok výrobní výrobné sériové evidenční obj účet účtu
артикул артикула артикл артикал код кода коду шифра шифър заказ заказа замовлення поръчка поръчката наруџба наруџбе
поруџбина поруџбине нарачка договор договора договору договір уговор уговора счет счёт счета рахунок рахунку рачун
фактура фактури фактуры накладная накладной накладна накладної товар товара товару продукт продукта каталожен
каталожный каталожни каталожний серийный серийни сериен серійний инвентарный інвентарний посылка посылки посилка
посилки пратка пратки пошиљка квитанция квитанции заявка заявки дело дела справи полис полиса
prekės prekė kodas kods kodu preces prece līgums līguma sutartis sutarties užsakymas užsakymo pasūtījums pasūtījuma
rēķins rēķina sąskaita sąskaitos siunta siuntos sūtījums sūtījuma artikuls artikulas
kood koodi tellimus tellimuse arve arvenumber leping lepingu toode toote saadetis saadetise
tilaus tilauksen lasku laskun viite tuote tuotteen tuotekoodi sopimus sopimuksen lähetys
ordre beställning varenr varunr vörunúmer pöntun pöntunar reikningur reikningsnúmer
κωδικός κωδικού προϊόν προϊόντος παραγγελία παραγγελίας τιμολόγιο τιμολογίου συμβόλαιο συμβολαίου δέμα δέματος σειριακός
kodu ürün ürünün sipariş siparişi fatura seri sözleşme parça poliçe makbuz
kode barang produk pesanan faktur invois resi kontrak artikel siri inventaris tagihan
mã hàng đơn
referència comanda albarà
კოდი შეკვეთის შეკვეთა ინვოისი ხელშეკრულების
կոդ կոդը պատվեր պատվերի ապրանքի
"""
"""Between white space or marks. Lower case."""

NUMBER_WORDS = (
    "číslo|čísla|č|št|broj|br|szám|száma|номер|номера|№|numărul|număr|αριθμός|αρ|numarası|numara|nomor|ნომერი"
)
"""What may stand between such a word and its number."""

UNSPACED = """
商品 製品 注文 受注 伝票 品番 型番 送り状 請求書 契約 订单 訂單 单号 單號 货号 貨號 产品 產品 型号 型號 快递 快遞
发票 發票 合同
상품 제품 주문 송장 운송장 계약 청구서 모델
รหัส สินค้า ใบสั่งซื้อ คำสั่งซื้อ ใบแจ้งหนี้ พัสดุ สัญญา
הזמנה קטלוגי חשבונית חוזה מק״ט מק"ט מוצר
المنتج الطلب الطلبية الفاتورة العقد الشحنة کالا سفارش فاکتور قرارداد مرسوله کوڈ آرڈر پروڈکٹ انوائس
उत्पाद ऑर्डर चालान कोड অর্ডার পণ্য চালান কোড ஆர்டர் பொருள் குறியீடு
"""
"""In scripts without spaces, or that take articles and endings."""

UNSPACED_NUMBER = "번호|番号|番號|编号|編號|号码|號碼|号|號|เลขที่|หมายเลข|نمبر|شماره|رقم|नंबर|संख्या|नम्बर|নম্বর|নং|எண்"
