import Bytes

extension NTLMMessage {
    /// The server's challenge ([MS-NLMP] section 2.2.1.2), parsed tolerantly. The target's name is ignored, since some
    /// point outside the message. The fields after the challenge may be missing.
    struct Challenge: Sendable, Equatable {
        let flags: NTLMMessage.Flags
        let serverChallenge: [UInt8]
        let targetInformation: NTLMMessage.Challenge.TargetInformation
        /// The message unchanged, since the integrity code covers it.
        let bytes: [UInt8]

        /// Nil if the bytes are not such a message.
        init?(_ bytes: [UInt8]) {
            let span = bytes.span
            guard bytes.starts(with: NTLMMessage.header(type: 2)), let flags = span.littleEndian32(at: 20),
                bytes.count >= 32
            else { return nil }
            self.bytes = bytes
            self.flags = NTLMMessage.Flags(rawValue: flags)
            serverChallenge = Array(bytes[24..<32])
            if self.flags.contains(.targetInformation), let length = span.littleEndian16(at: 40),
                let offset = span.littleEndian32(at: 44), offset <= bytes.count, length <= bytes.count - Int(offset)
            {
                targetInformation = NTLMMessage.Challenge.TargetInformation(
                    span.extracting(Int(offset)..<Int(offset) + length))
            } else {
                targetInformation = NTLMMessage.Challenge.TargetInformation()
            }
        }

        /// The token of the first NTLM challenge that has one.
        init?(in challenges: [HeaderChallenge]) {
            guard let token = challenges.lazy.filter({ $0.scheme == "ntlm" }).compactMap(\.token68).first,
                let bytes = Base64.decode(token)
            else { return nil }
            self.init(bytes)
        }

        /// Whether texts are sent in UTF-16; if not, in the server's own eight-bit characters, which include ASCII.
        var isUnicode: Bool { flags.contains(.unicode) || !flags.contains(.oem) }
    }
}

extension NTLMMessage.Challenge {
    /// The attributes ([MS-NLMP] section 2.2.2.1): the server's about itself and its time, and the client's about the
    /// connection.
    struct TargetInformation: Sendable, Equatable {
        struct Attribute: Sendable, Equatable {
            let identifier: UInt16
            var value: [UInt8]
        }

        static let flags: UInt16 = 6
        static let timestamp: UInt16 = 7
        static let targetName: UInt16 = 9
        static let channelBindings: UInt16 = 10

        /// The bit in `flags` for a message with an integrity code.
        private static let hasCode: UInt8 = 2

        /// The attributes without the end of the list.
        private(set) var attributes: [Attribute] = []

        init() {}

        /// Reads the complete attributes. Some servers send none, and not even the end of the list.
        init(_ bytes: Span<UInt8>) {
            var offset = 0
            while let identifier = bytes.littleEndian16(at: offset), identifier != 0,
                let length = bytes.littleEndian16(at: offset + 2), length <= bytes.count - offset - 4
            {
                let value = bytes.extracting(offset + 4..<offset + 4 + length).array
                attributes.append(Attribute(identifier: UInt16(truncatingIfNeeded: identifier), value: value))
                offset += 4 + length
            }
        }

        /// The first value of that attribute.
        subscript(identifier: UInt16) -> [UInt8]? {
            attributes.first { $0.identifier == identifier }?.value
        }

        /// The server's time in its own eight bytes, if it sent one.
        var time: [UInt8]? {
            self[Self.timestamp].flatMap { $0.count == 8 ? $0 : nil }
        }

        /// The client's answer (section 3.1.5.1.2). It adds that there is an integrity code, the target service, and the
        /// channel binding; without one, sixteen zero bytes.
        func answered(target: String, channel: [UInt8]?) -> NTLMMessage.Challenge.TargetInformation {
            var answered = self
            var flags = self[Self.flags].flatMap { $0.count == 4 ? $0 : nil } ?? [0, 0, 0, 0]
            flags[0] |= Self.hasCode
            answered.set(Self.flags, flags)
            answered.set(Self.channelBindings, channel ?? Array(repeating: 0, count: 16))
            answered.set(Self.targetName, Array(utf16: target))
            return answered
        }

        /// The bytes with the end of the list.
        var bytes: [UInt8] {
            var bytes: [UInt8] = []
            for attribute in attributes {
                bytes.append(littleEndian: attribute.identifier)
                bytes.append(littleEndian: UInt16(truncatingIfNeeded: attribute.value.count))
                bytes.append(contentsOf: attribute.value)
            }
            return bytes + [0, 0, 0, 0]
        }

        private mutating func set(_ identifier: UInt16, _ value: [UInt8]) {
            attributes.removeAll { $0.identifier == identifier }
            attributes.append(Attribute(identifier: identifier, value: value))
        }
    }
}
