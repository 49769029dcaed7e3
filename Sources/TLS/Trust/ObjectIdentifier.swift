import COpenSSL

/// An OBJECT IDENTIFIER in words.
enum ObjectIdentifier {
    /// OpenSSL's long name, or the number with dots.
    static func name(_ object: OpaquePointer?) -> String { text(object, numeric: 0) }

    static func number(_ object: OpaquePointer?) -> String { text(object, numeric: 1) }

    private static func text(_ object: OpaquePointer?, numeric: Int32) -> String {
        var text = [CChar](repeating: 0, count: 128)
        let count = OBJ_obj2txt(&text, Int32(text.count), object, numeric)
        ERR_clear_error()
        guard count > 0 else { return "unknown" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
