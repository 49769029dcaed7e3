import Bytes

/// The parameters of an `Authentication-Info` or `Proxy-Authentication-Info` field (RFC 7615).
struct AuthenticationInfo {
    private var parameters: [HeaderChallenge.Parameter] = []

    /// Nil when the field is broken, names something twice, or is larger than any real one.
    init?(_ field: Span<UInt8>) {
        guard field.count <= 4096 else { return nil }
        var reader = ParameterReader(field)
        reader.skipCommasAndBlanks()
        while !reader.isAtEnd {
            guard let name = reader.token(), let value = reader.value(), self[name] == nil else { return nil }
            parameters.append(HeaderChallenge.Parameter(name: name, value: value))
            reader.skipCommasAndBlanks()
        }
    }

    subscript(name: String) -> [UInt8]? {
        parameters.first { $0.name == name }?.value
    }
}
