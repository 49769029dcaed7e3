/// The common part of NTLM's messages ([MS-NLMP] section 2.2.1).
enum NTLMMessage {
    static let signature = Array("NTLMSSP\0".utf8)

    /// Windows 6.1 and the only revision of NTLMSSP (section 2.2.2.10). The specification says that it is for
    /// debugging, but some servers refuse a first message without it.
    static let version: [UInt8] = [6, 1, 0xB1, 0x1D, 0, 0, 0, 0x0F]

    /// The first message (section 2.2.1.1): the flags, without data about the client.
    static let negotiate: [UInt8] = {
        var bytes = header(type: 1)
        bytes.append(littleEndian: NTLMMessage.Flags.offered.rawValue)
        bytes.append(contentsOf: Array(repeating: 0, count: 16))
        return bytes + version
    }()

    static func header(type: UInt32) -> [UInt8] {
        var bytes = signature
        bytes.append(littleEndian: type)
        return bytes
    }

    /// The options that the two sides agree on ([MS-NLMP] section 2.2.2.5).
    struct Flags: OptionSet, Sendable {
        let rawValue: UInt32

        static let unicode = NTLMMessage.Flags(rawValue: 1 << 0)
        static let oem = NTLMMessage.Flags(rawValue: 1 << 1)
        static let requestTarget = NTLMMessage.Flags(rawValue: 1 << 2)
        static let ntlm = NTLMMessage.Flags(rawValue: 1 << 9)
        static let alwaysSign = NTLMMessage.Flags(rawValue: 1 << 15)
        static let extendedSessionSecurity = NTLMMessage.Flags(rawValue: 1 << 19)
        static let targetInformation = NTLMMessage.Flags(rawValue: 1 << 23)
        static let version = NTLMMessage.Flags(rawValue: 1 << 25)
        static let key128 = NTLMMessage.Flags(rawValue: 1 << 29)
        static let key56 = NTLMMessage.Flags(rawValue: 1 << 31)

        /// The options that we request. HTTP messages are not signed or sealed, so no session key is exchanged.
        static let offered: NTLMMessage.Flags = [
            .unicode, .oem, .requestTarget, .ntlm, .alwaysSign, .extendedSessionSecurity, .targetInformation, .version,
            .key128, .key56,
        ]
    }
}

// NTLM's messages are read and written by offset, all numbers little-endian ([MS-NLMP] section 2.2).

extension Span<UInt8> {
    /// Two bytes as a number; nil beyond the end.
    func littleEndian16(at offset: Int) -> Int? {
        guard offset >= 0, offset <= count - 2 else { return nil }
        return Int(self[offset]) | Int(self[offset + 1]) << 8
    }

    /// Four bytes as a number; nil beyond the end.
    func littleEndian32(at offset: Int) -> UInt32? {
        guard offset >= 0, offset <= count - 4 else { return nil }
        return (0..<4).reduce(0) { $0 | UInt32(self[offset + $1]) << UInt32($1 * 8) }
    }
}

extension [UInt8] {
    mutating func append(littleEndian number: some FixedWidthInteger & UnsignedInteger) {
        for place in 0..<number.bitWidth / 8 { append(UInt8(truncatingIfNeeded: number >> (place * 8))) }
    }

    /// The text in UTF-16.
    init(utf16 text: String) {
        self = []
        for unit in text.utf16 { append(littleEndian: unit) }
    }
}
