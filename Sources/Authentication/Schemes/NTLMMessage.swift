/// What NTLM's messages have in common ([MS-NLMP] section 2.2.1).
enum NTLMMessage {
    static let signature = Array("NTLMSSP\0".utf8)

    /// Windows 6.1 and the only revision of NTLMSSP there is (section 2.2.2.10); for debugging, says the specification,
    /// but there are servers that refuse a first message without it.
    static let version: [UInt8] = [6, 1, 0xB1, 0x1D, 0, 0, 0, 0x0F]

    /// The first message (section 2.2.1.1): the flags, and nothing about the client.
    static let negotiate: [UInt8] = {
        var bytes = header(type: 1)
        bytes.append(littleEndian: NTLMFlags.offered.rawValue)
        bytes.append(contentsOf: Array(repeating: 0, count: 16))
        return bytes + version
    }()

    static func header(type: UInt32) -> [UInt8] {
        var bytes = signature
        bytes.append(littleEndian: type)
        return bytes
    }
}
