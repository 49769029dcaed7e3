import Bytes
import Crypto

/// A client's answer to a Digest challenge (RFC 7616 section 3.4), read from the field's value after the scheme. It is
/// not verified yet.
///
/// The values are offsets into the field's value, so that nothing is allocated. Anything that two readers could
/// understand differently is refused: a repeated parameter, an open quote, a control character, text after a closed
/// quote. `nc`, `qop` and `algorithm` may be quoted, as some clients send them. Unknown parameters are ignored (section
/// 3.4).
public struct DigestAuthorization: Sendable {
    enum Parameter: Int, CaseIterable {
        case username
        case extendedUsername
        case realm
        case nonce
        case uri
        case response
        case algorithm
        case clientNonce
        case protection
        case count
        case userhash

        var name: StaticString {
            switch self {
            case .username: "username"
            case .extendedUsername: "username*"
            case .realm: "realm"
            case .nonce: "nonce"
            case .uri: "uri"
            case .response: "response"
            case .algorithm: "algorithm"
            case .clientNonce: "cnonce"
            case .protection: "qop"
            case .count: "nc"
            case .userhash: "userhash"
            }
        }
    }

    /// The reason why the answer cannot be verified. It contains none of the values.
    public enum Defect: Error, Equatable, CustomStringConvertible {
        case syntax
        case repeated(String)
        case missing(String)
        case malformed(String)

        public var description: String {
            switch self {
            case .syntax: "the Digest credentials are malformed"
            case .repeated(let name): "the Digest credentials have \(name) twice"
            case .missing(let name): "the Digest credentials lack \(name)"
            case .malformed(let name): "the value of \(name) in the Digest credentials is not valid"
            }
        }
    }

    /// A value without its quotes; an escaped value still has its backslashes.
    private struct Piece {
        var range = 0..<0
        var isPresent = false
        var isEscaped = false
    }

    public let algorithm: DigestAlgorithm
    public let count: UInt32
    /// The text of `nc` as it was sent.
    public var countText: Range<Int> { self[.count].range }
    public var nonce: Range<Int> { self[.nonce].range }
    public var clientNonce: Range<Int> { self[.clientNonce].range }
    /// The hexadecimal digits in any case, as many as the algorithm produces.
    public var response: Range<Int> { self[.response].range }

    private var pieces = InlineArray<11, Piece>(repeating: Piece())

    /// - Throws: if the answer could not be verified for any user.
    public init(_ value: Span<UInt8>) throws(Defect) {
        var pieces = InlineArray<11, Piece>(repeating: Piece())
        try Self.read(value, into: &pieces)
        func piece(_ parameter: Parameter) throws(Defect) -> Piece {
            let piece = pieces[parameter.rawValue]
            guard piece.isPresent else { throw .missing("\(parameter.name)") }
            return piece
        }
        /// Returns a value that no client needs to escape.
        func plain(_ parameter: Parameter) throws(Defect) -> Range<Int> {
            let piece = try piece(parameter)
            guard !piece.isEscaped else { throw .malformed("\(parameter.name)") }
            return piece.range
        }
        let isExtended = pieces[Parameter.extendedUsername.rawValue].isPresent
        if isExtended, pieces[Parameter.username.rawValue].isPresent { throw .repeated("username") }
        if !isExtended { _ = try piece(.username) }
        _ = try piece(.realm)
        _ = try piece(.uri)
        _ = try plain(.nonce)
        _ = try plain(.clientNonce)
        guard value.extracting(try plain(.protection)).equalsIgnoringCase("auth") else { throw .malformed("qop") }
        if pieces[Parameter.userhash.rawValue].isPresent {
            guard value.extracting(try plain(.userhash)).equalsIgnoringCase("false") else {
                throw .malformed("userhash")
            }
        }
        guard let count = Self.count(value.extracting(try plain(.count))) else { throw .malformed("nc") }
        self.count = count
        // Without a name the algorithm is MD5 (section 3.3).
        let isNamed = pieces[Parameter.algorithm.rawValue].isPresent
        guard let algorithm = isNamed ? Self.algorithm(value.extracting(try plain(.algorithm))) : .md5 else {
            throw .malformed("algorithm")
        }
        self.algorithm = algorithm
        let response = value.extracting(try plain(.response))
        guard response.count == algorithm.length * 2 else { throw .malformed("response") }
        for offset in 0..<response.count {
            guard response[offset].hexValue != nil else { throw .malformed("response") }
        }
        self.pieces = pieces
    }

    private subscript(parameter: Parameter) -> Piece { pieces[parameter.rawValue] }

    /// Appends the user's name in UTF-8, or the bytes that the client sent in place of UTF-8.
    /// - Throws: if `username*` is not in the form of RFC 8187 section 3.2, in UTF-8.
    public func appendUser(of value: Span<UInt8>, to buffer: ByteBuffer) throws(Defect) {
        let piece = self[.extendedUsername]
        guard piece.isPresent else { return append(self[.username], of: value, to: buffer) }
        let text = value.extracting(piece.range)
        guard !piece.isEscaped, text.count > 7, text.extracting(first: 6).equalsIgnoringCase("utf-8'"),
            let end = text.firstIndex(of: UInt8(ascii: "'"), from: 6),
            let name = PercentEncoding.decode(text.extracting(end + 1..<text.count))
        else { throw .malformed("username*") }
        buffer.append(name)
    }

    public func appendRealm(of value: Span<UInt8>, to buffer: ByteBuffer) {
        append(self[.realm], of: value, to: buffer)
    }

    public func appendTarget(of value: Span<UInt8>, to buffer: ByteBuffer) {
        append(self[.uri], of: value, to: buffer)
    }

    private func append(_ piece: Piece, of value: Span<UInt8>, to buffer: ByteBuffer) {
        let text = value.extracting(piece.range)
        guard piece.isEscaped else { return buffer.append(text) }
        var offset = 0
        while offset < text.count {
            // The text does not end with a backslash.
            if text[offset] == .backslash, offset &+ 1 < text.count { offset &+= 1 }
            buffer.append(text[offset])
            offset &+= 1
        }
    }

    /// Reads exactly eight hexadecimal digits; nil for zero.
    private static func count(_ text: Span<UInt8>) -> UInt32? {
        guard text.count == 8 else { return nil }
        var number: UInt32 = 0
        for offset in 0..<8 {
            guard let digit = text[offset].hexValue else { return nil }
            number = number << 4 | UInt32(digit)
        }
        return number > 0 ? number : nil
    }

    private static func algorithm(_ name: Span<UInt8>) -> DigestAlgorithm? {
        if name.equalsIgnoringCase("sha-256") { return .sha256 }
        return name.equalsIgnoringCase("md5") ? .md5 : nil
    }
}

// MARK: - Reading

extension DigestAuthorization {
    private static func read(_ value: Span<UInt8>, into pieces: inout InlineArray<11, Piece>) throws(Defect) {
        var offset = 0
        while true {
            while offset < value.count, value[offset].isBlank || value[offset] == .comma { offset &+= 1 }
            if offset == value.count { return }
            let start = offset
            while offset < value.count, value[offset].isTokenByte { offset &+= 1 }
            let parameter = parameter(value.extracting(start..<offset))
            guard offset > start else { throw .syntax }
            offset = blanks(value, from: offset)
            guard offset < value.count, value[offset] == .equals else { throw .syntax }
            offset = blanks(value, from: offset &+ 1)
            let piece = try piece(value, at: &offset)
            offset = blanks(value, from: offset)
            guard offset == value.count || value[offset] == .comma else { throw .syntax }
            guard let parameter else { continue }
            if pieces[parameter.rawValue].isPresent { throw .repeated("\(parameter.name)") }
            pieces[parameter.rawValue] = piece
        }
    }

    private static func piece(_ value: Span<UInt8>, at offset: inout Int) throws(Defect) -> Piece {
        guard offset < value.count else { throw .syntax }
        guard value[offset] == .quote else {
            let start = offset
            while offset < value.count, value[offset] > .space, value[offset] != .comma, value[offset] != .quote,
                value[offset] != .delete, value[offset] != .backslash
            {
                offset &+= 1
            }
            guard offset > start else { throw .syntax }
            return Piece(range: start..<offset, isPresent: true)
        }
        offset &+= 1
        let start = offset
        var isEscaped = false
        while offset < value.count, value[offset] != .quote {
            if value[offset] == .backslash {
                isEscaped = true
                offset &+= 1
                guard offset < value.count else { throw .syntax }
            }
            guard value[offset] >= .space || value[offset] == .tab, value[offset] != .delete else { throw .syntax }
            offset &+= 1
        }
        guard offset < value.count else { throw .syntax }
        offset &+= 1
        return Piece(range: start..<offset &- 1, isPresent: true, isEscaped: isEscaped)
    }

    private static func blanks(_ value: Span<UInt8>, from start: Int) -> Int {
        var offset = start
        while offset < value.count, value[offset].isBlank { offset &+= 1 }
        return offset
    }

    private static func parameter(_ name: Span<UInt8>) -> Parameter? {
        switch name.count {
        case 2: name.equalsIgnoringCase("nc") ? .count : nil
        case 3: name.equalsIgnoringCase("uri") ? .uri : name.equalsIgnoringCase("qop") ? .protection : nil
        case 5: name.equalsIgnoringCase("realm") ? .realm : name.equalsIgnoringCase("nonce") ? .nonce : nil
        case 6: name.equalsIgnoringCase("cnonce") ? .clientNonce : nil
        case 8:
            if name.equalsIgnoringCase("username") {
                .username
            } else if name.equalsIgnoringCase("response") {
                .response
            } else {
                name.equalsIgnoringCase("userhash") ? .userhash : nil
            }
        case 9:
            name.equalsIgnoringCase("algorithm")
                ? .algorithm : name.equalsIgnoringCase("username*") ? .extendedUsername : nil
        default: nil
        }
    }
}

extension DigestAuthorization {
    /// Whether the response proves that the sender knows the password (section 3.4.1). The time of the comparison does
    /// not depend on the result.
    /// - Parameters:
    ///   - key: the digest over user, realm and password.
    ///   - value: the field's value that this was read from.
    ///   - target: the client's `uri`, which the caller has compared with the request.
    public func proves(
        _ key: MessageDigest.Value, value: Span<UInt8>, method: Span<UInt8>, target: Span<UInt8>
    ) -> Bool {
        let sent = value.extracting(response)
        let expected = response(key, value: value, method: method, target: target)
        return expected.withHexadecimal { expected in
            guard sent.count == expected.count else { return false }
            // Digits in upper case are equivalent.
            let lowercased = InlineArray<64, UInt8> { $0 < sent.count ? sent[$0].asciiLowercased : 0 }
            return ConstantTime.equal(lowercased.span.extracting(first: sent.count), expected)
        }
    }

    /// Appends the proof that the proxy knows the password too: the value of `Proxy-Authentication-Info` (section 3.5),
    /// without a next nonce. The parameters are those of `proves`, which returned true.
    public func appendProof(
        _ key: MessageDigest.Value, value: Span<UInt8>, target: Span<UInt8>, to buffer: ByteBuffer
    ) {
        buffer.append("rspauth=\"" as StaticString)
        response(key, value: value, method: Span(), target: target).withHexadecimal { buffer.append($0) }
        // Neither value contains a quote or an escape.
        buffer.append("\", qop=auth, cnonce=\"" as StaticString)
        buffer.append(value.extracting(clientNonce))
        buffer.append("\", nc=" as StaticString)
        buffer.append(value.extracting(countText))
    }

    private func response(
        _ key: MessageDigest.Value, value: Span<UInt8>, method: Span<UInt8>, target: Span<UInt8>
    ) -> MessageDigest.Value {
        var request = MessageDigest(algorithm)
        request.update(method)
        request.update(":")
        request.update(target)
        var digest = MessageDigest(algorithm)
        key.withHexadecimal { digest.update($0) }
        digest.update(":")
        digest.update(value.extracting(nonce))
        digest.update(":")
        digest.update(value.extracting(countText))
        digest.update(":")
        digest.update(value.extracting(clientNonce))
        digest.update(":auth:")
        request.finish().withHexadecimal { digest.update($0) }
        return digest.finish()
    }
}

/// The value that replaces a password in Digest (RFC 7616 section 3.4.2, `A1` without `-sess`). With it one can log in.
public enum DigestKey {
    public static func make(
        _ algorithm: DigestAlgorithm, user: String, realm: Span<UInt8>, password: Secret
    ) -> MessageDigest.Value {
        var digest = MessageDigest(algorithm)
        digest.update(utf8: user)
        digest.update(":")
        digest.update(realm)
        digest.update(":")
        password.withBytes { digest.update($0) }
        return digest.finish()
    }
}
