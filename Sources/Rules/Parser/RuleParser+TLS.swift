import Bytes

/// What is said of TLS: by a listener, by a route, and of the authority.
extension RuleParser {
    /// What stands behind `listen ADDRESS:PORT`.
    func listenerTLS(_ values: ArraySlice<Value>) -> Configuration.Listener.TLS? {
        guard let head = values.first else { return nil }
        guard head.text == "tls", !head.isQuoted else {
            refuse(
                head, "'listen' takes one address, and perhaps 'tls'",
                suggestion: Suggestion.nearest(to: head.text, among: ["tls"]))
            return nil
        }
        var certificate: String?
        var key: String?
        var clients: Configuration.Listener.TLS.Clients?
        var isSound = true
        let options = options(ListenerWord.self, in: values.dropFirst(), isSound: &isSound)
        for (index, option) in options.enumerated() {
            if options[..<index].contains(where: { $0.word == option.word }) {
                refuse(option.keyword, "\(option.keyword.shown) is said already")
            }
            switch option.word {
            case .certificate: certificate = onePath(option)
            case .key: key = onePath(option)
            case .clients:
                var option = option
                let last = option.values.count > 1 ? option.values.last : nil
                let isRequired = last.map { $0.text == "required" && !$0.isQuoted } ?? false
                if isRequired { option.values.removeLast() }
                if option.values.count > 1 {
                    refuse(
                        option.values[1], "behind the path of 'clients' may stand 'required'",
                        suggestion: Suggestion.nearest(to: option.values[1].text, among: ["required"]))
                }
                option.values = Array(option.values.prefix(1))
                clients = onePath(option).map { .init(authorities: $0, isRequired: isRequired) }
            }
        }
        for needed in [ListenerWord.certificate, .key] where isSound && !options.contains(where: { $0.word == needed })
        {
            log.report(at: head.range, "'tls' needs '\(needed.rawValue)' and a path")
        }
        guard let certificate, let key else { return nil }
        return .init(certificate: certificate, key: key, clients: clients)
    }

    /// The `tls` lines of a route, together.
    func routeTLS(_ directives: [Directive<RouteDirective>]) -> TLSTerms? {
        var minimum: TLSVersion?
        var revocation: [String] = []
        let said = directives.flatMap { directive in
            var isSound = true
            return options(RouteWord.self, in: directive.values[...], isSound: &isSound)
        }
        for option in said {
            switch option.word {
            case .minimum:
                if minimum != nil { refuse(option.keyword, "'minimum' is said already") }
                if option.values.isEmpty {
                    log.report(at: option.keyword.range, "'minimum' needs a version: 1.0, 1.1, 1.2 or 1.3")
                }
                if option.values.count > 1 { refuse(option.values[1], "'minimum' takes one version") }
                minimum = option.values.first.flatMap(version)
            case .revocation:
                if option.values.isEmpty { log.report(at: option.keyword.range, "'revocation' needs paths") }
                revocation += option.values.map(path)
            }
        }
        return directives.isEmpty ? nil : TLSTerms(minimum: minimum, revocation: revocation)
    }

    private func version(_ value: Value) -> TLSVersion? {
        if let version = TLSVersion(rawValue: value.text) { return version }
        let digits = String(value.text.drop { !$0.isNumber })
        refuse(
            value, "\(value.shown) is no version of TLS: 1.0, 1.1, 1.2 or 1.3",
            suggestion: TLSVersion(rawValue: digits)?.rawValue ?? TLSVersion(rawValue: "1." + digits)?.rawValue)
        return nil
    }

    func authority(_ directive: Directive<FileDirective>) {
        var certificate: String?
        var key: String?
        var passphrase: ValueSource?
        for inner in directives(AuthorityDirective.self, in: directive.node) {
            guard let value = inner.values.first else { continue }
            switch inner.name {
            case .certificate: certificate = path(value)
            case .key: key = path(value)
            case .passphrase: passphrase = secret(value)
            case .names: configuration.authority.names += inner.values.compactMap(authorityName)
            }
        }
        if let certificate, let key {
            configuration.authority.files = .init(certificate: certificate, key: key, passphrase: passphrase)
        }
        let said = Set(directive.node.block?.nodes.map(\.name.text) ?? [])
        let files: [AuthorityDirective] = [.certificate, .key]
        guard (files + [.passphrase]).contains(where: { said.contains($0.rawValue) }) else { return }
        for needed in files where !said.contains(needed.rawValue) {
            log.report(
                at: directive.node.name.range,
                "the authority has no '\(needed.rawValue)'; without 'certificate' and 'key' it is made in 'state'")
        }
    }

    /// A name constraint says "this and all below it"; `*.` before a name leaves the name itself out.
    private func authorityName(_ value: Value) -> Configuration.Authority.Name? {
        guard let pattern = hostPattern(value, value.text) else { return nil }
        switch pattern.form {
        case .exact:
            // One IPv4 address is a name to a pattern.
            let address = IPAddress(pattern.description).flatMap { AddressPrefix(holding: $0, length: 32) }
            return address.map { .addresses($0) } ?? .domain(pattern.description, withItself: true)
        case .suffix(let end): return .domain(String(decoding: end.dropFirst(), as: UTF8.self), withItself: false)
        case .addresses(let prefix): return .addresses(prefix)
        case .any, .glob:
            refuse(value, "\(value.shown) cannot stand in a certificate: '*' stands alone, before the first dot")
            return nil
        }
    }
}

private enum ListenerWord: String, CaseIterable {
    case certificate
    case key
    case clients
}

private enum RouteWord: String, CaseIterable {
    case minimum
    case revocation
}
