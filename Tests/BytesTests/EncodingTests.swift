import Bytes
import Testing

@Suite struct EncodingTests {
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `base64 agrees with RFC 4648 section 10`(plain: String, encoded: String) {
        #expect(Base64.encode(Array(plain.utf8)) == encoded)
        #expect(Base64.decode(encoded) == Array(plain.utf8))
        #expect(Base64.decode(Array(encoded.utf8).span) == Array(plain.utf8))
    }

    @Test(arguments: ["Zg", "Zg=", "Z===", "====", "Zh==", "Zm9=", "Zm 9v", "Zm9v\n", "Zg==Zg==", "Zm-_"])
    func `base64 that another decoder could read otherwise is refused`(text: String) {
        #expect(Base64.decode(text) == nil)
        #expect(Base64.decode(Array(text.utf8).span) == nil)
    }

    @Test func `hexadecimal goes both ways`() {
        #expect(Hex.encode([0, 0x0F, 0xA5, 0xFF]) == "000fa5ff")
        #expect(Hex.decode("000FA5ff") == [0, 0x0F, 0xA5, 0xFF])
        #expect(Hex.decode(Array("000FA5ff".utf8).span) == [0, 0x0F, 0xA5, 0xFF])
        for wrong in ["0", "0g", "g0"] { #expect(Hex.decode(Array(wrong.utf8).span) == nil) }
        #expect(Hex.decode("0") == nil)
        #expect(Hex.decode("0g") == nil)
    }

    @Test func `a text becomes printable ASCII, and can be read back`() throws {
        let text = "50 % of \"Zürich\"\n~"
        let printed = PercentEncoding.printable(text)
        #expect(String(decoding: printed, as: UTF8.self) == "50 %25 of \"Z%C3%BCrich\"%0A~")
        #expect(PercentEncoding.decode(printed.span) == Array(text.utf8))
    }

    @Test func `bytes above 0x7F are percent-encoded, and no others`() {
        let buffer = ByteBuffer(capacity: 64)
        let bytes = (0...UInt8.max).map { $0 }
        PercentEncoding.appendASCII(bytes.span, to: buffer)
        let plain = Array(buffer.readable.array.prefix(0x80))
        let encoded = Array(buffer.readable.array.dropFirst(0x80))
        #expect(plain == Array(bytes.prefix(0x80)))
        #expect(String(decoding: encoded.prefix(6), as: UTF8.self) == "%80%81")
        let decoded = PercentEncoding.decode(encoded.span)
        #expect(decoded == Array(bytes.dropFirst(0x80)))
    }

    @Test func `percent-encoding is decoded, and refused when broken`() {
        #expect(PercentEncoding.decode(Array("p%40ss%2fw".utf8).span) == Array("p@ss/w".utf8))
        for broken in ["%", "%4", "%zz", "a%4"] { #expect(PercentEncoding.decode(Array(broken.utf8).span) == nil) }
    }
}
