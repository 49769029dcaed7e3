import Bytes
import COpenSSL

extension Certificate {
    /// An extension of a certificate that the proxy issues (RFC 5280 section 4.2).
    struct Extension {
        let identifier: Int32
        let isCritical: Bool
        let content: [UInt8]

        /// - Parameter isAuthority: whether the certificate may issue leaves; it never may issue another CA.
        static func basicConstraints(isAuthority: Bool) -> Certificate.Extension {
            let content = DER.sequence(isAuthority ? [DER.boolean(true), DER.integer(0)] : [])
            return Certificate.Extension(identifier: NID_basic_constraints, isCritical: true, content: content)
        }

        enum KeyUsage: Int {
            case digitalSignature = 0
            case keyCertSign = 5
            case cRLSign = 6
        }

        static func keyUsage(_ usages: [KeyUsage]) -> Certificate.Extension {
            Certificate.Extension(
                identifier: NID_key_usage, isCritical: true, content: DER.bits(usages.map(\.rawValue)))
        }

        /// `id-kp-serverAuth` and nothing else.
        static let serverAuthentication = Certificate.Extension(
            identifier: NID_ext_key_usage, isCritical: false,
            content: DER.sequence([DER.element(0x06, [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01])]))

        static func subjectKeyIdentifier(_ key: [UInt8]) -> Certificate.Extension {
            Certificate.Extension(identifier: NID_subject_key_identifier, isCritical: false, content: DER.octets(key))
        }

        static func authorityKeyIdentifier(_ key: [UInt8]) -> Certificate.Extension {
            Certificate.Extension(
                identifier: NID_authority_key_identifier, isCritical: false,
                content: DER.sequence([DER.primitive(0, key)]))
        }

        /// - Parameter isOnlyName: whether the certificate has no subject, which makes the extension critical (section
        ///   4.2.1.6).
        static func subjectAlternativeName(_ name: ServerName, isOnlyName: Bool) -> Certificate.Extension {
            Certificate.Extension(
                identifier: NID_subject_alt_name, isCritical: isOnlyName, content: DER.sequence([generalName(name)]))
        }

        /// The name constraints, critical as section 4.2.1.10 requires. If no name of one form is permitted, the form
        /// is excluded as a whole. Without that, all its names would be allowed.
        static func nameConstraints(_ permitted: [NameConstraint]) -> Certificate.Extension {
            var excluded: [[UInt8]] = []
            if !permitted.contains(where: { $0.addressWidth == nil }) { excluded.append(DER.primitive(2, [])) }
            for width in [4, 16] where !permitted.contains(where: { $0.addressWidth == width }) {
                excluded.append(DER.primitive(7, [UInt8](repeating: 0, count: 2 * width)))
            }
            func subtrees(_ number: UInt8, _ names: [[UInt8]]) -> [[UInt8]] {
                names.isEmpty ? [] : [DER.constructed(number, names.map { DER.sequence([$0]) })]
            }
            let content = DER.sequence(subtrees(0, permitted.map(\.generalName)) + subtrees(1, excluded))
            return Certificate.Extension(identifier: NID_name_constraints, isCritical: true, content: content)
        }

        private static func generalName(_ name: ServerName) -> [UInt8] {
            switch name {
            case .host(let name): DER.primitive(2, Array(name.utf8))
            case .address(let address): DER.primitive(7, address.bytes)
            case .workload(let workload): DER.primitive(6, Array("\(workload)".utf8))
            }
        }
    }
}

/// Writes the few DER types (X.690) of which the extensions of a certificate consist.
enum DER {
    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag] + length(content.count) + content }

    static func sequence(_ elements: [[UInt8]]) -> [UInt8] { element(0x30, Array(elements.joined())) }

    static func boolean(_ value: Bool) -> [UInt8] { element(0x01, [value ? 0xFF : 0]) }

    /// A number below 128.
    static func integer(_ value: UInt8) -> [UInt8] { element(0x02, [value & 0x7F]) }

    static func octets(_ bytes: [UInt8]) -> [UInt8] { element(0x04, bytes) }

    /// A named-bit list without its trailing zeros; bit 0 is the highest of the first byte.
    static func bits(_ set: [Int]) -> [UInt8] {
        var byte: UInt8 = 0
        for bit in set where (0..<8).contains(bit) { byte |= 0x80 >> UInt8(bit) }
        return element(0x03, [UInt8(byte.trailingZeroBitCount & 7), byte])
    }

    /// `[number] IMPLICIT` of a primitive value.
    static func primitive(_ number: UInt8, _ content: [UInt8]) -> [UInt8] { element(0x80 | number, content) }

    /// `[number] IMPLICIT` of a constructed value.
    static func constructed(_ number: UInt8, _ elements: [[UInt8]]) -> [UInt8] {
        element(0xA0 | number, Array(elements.joined()))
    }

    private static func length(_ count: Int) -> [UInt8] {
        guard count >= 0x80 else { return [UInt8(count)] }
        var bytes: [UInt8] = []
        var rest = count
        while rest > 0 {
            bytes.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [0x80 | UInt8(bytes.count)] + bytes
    }
}
