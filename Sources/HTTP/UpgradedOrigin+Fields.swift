import Bytes

extension UpgradedOrigin {
    /// What becomes of a field on its way through an upgrade.
    enum Treatment {
        case kept
        case dropped
        /// The value is a URL.
        case url
        /// URLs stand in angle brackets.
        case bracketed
        case refresh
        case cookie
    }

    /// What a response's field needs before a client may have it that believes in `http`.
    ///
    /// `Strict-Transport-Security` and `Alt-Svc` would have the client leave the way that was chosen for it. `Link` is
    /// treated since clients page with it.
    static func treatmentOfResponse(_ name: Span<UInt8>) -> Treatment {
        switch name.count {
        case 4 where name.equalsIgnoringCase("link"): .bracketed
        case 7 where name.equalsIgnoringCase("refresh"): .refresh
        case 7 where name.equalsIgnoringCase("alt-svc"): .dropped
        case 8 where name.equalsIgnoringCase("location"): .url
        case 10 where name.equalsIgnoringCase("set-cookie"): .cookie
        case 16 where name.equalsIgnoringCase("content-location"): .url
        case 25 where name.equalsIgnoringCase("strict-transport-security"): .dropped
        default: .kept
        }
    }

    /// What a request's field needs before the origin may have it: one that checks `Referer` or `Origin` expects its own
    /// name, and WebDAV (RFC 4918 sections 10.3 and 10.4) names the origin in `Destination` and `If`.
    static func treatmentOfRequest(_ name: Span<UInt8>) -> Treatment {
        switch name.count {
        case 2 where name.equalsIgnoringCase("if"): .bracketed
        case 6 where name.equalsIgnoringCase("origin"): .url
        case 7 where name.equalsIgnoringCase("referer"): .url
        case 11 where name.equalsIgnoringCase("destination"): .url
        default: .kept
        }
    }
}

extension HeadWriter {
    /// Copies as `copy` does, with the fields that name the origin made to name it as `side` does.
    func copy(
        _ fields: FieldTable, of bytes: Span<UInt8>, from start: Int, dropping: FieldSet,
        through upgrade: UpgradedOrigin, namedFor side: UpgradedOrigin.Side
    ) {
        var start = start
        for field in fields {
            var treatment = UpgradedOrigin.Treatment.dropped
            if !field.isNominated, !dropping.contains(field.known) {
                let name = bytes.extracting(field.name)
                treatment =
                    side == .client ? UpgradedOrigin.treatmentOfResponse(name) : UpgradedOrigin.treatmentOfRequest(name)
            }
            if treatment == .kept { continue }
            let (line, value) = (field.line, bytes.extracting(field.value))
            let isDropped = treatment == .dropped
            buffer.append(bytes.extracting(start..<(isDropped ? line.lowerBound : field.value.lowerBound)))
            start = isDropped ? line.upperBound : field.value.upperBound
            switch treatment {
            case .kept, .dropped: break
            case .url: upgrade.append(url: value, namedFor: side, to: buffer)
            case .bracketed: upgrade.append(bracketed: value, namedFor: side, to: buffer)
            case .refresh: upgrade.append(refresh: value, to: buffer)
            case .cookie: upgrade.append(cookie: value, to: buffer)
            }
        }
        if fields.end > start { buffer.append(bytes.extracting(start..<fields.end)) }
    }
}
