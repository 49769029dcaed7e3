import Model

/// Reads `listen`.
struct ListenerReader: BlockReader {
    /// The directives in the block of `listen unix:PATH`.
    enum Word: String, DirectiveName {
        case mode
        case group

        static let block: String? = "listen"

        var grammar: DirectiveGrammar {
            switch self {
            case .mode: .one("permissions, such as 0660", .never)
            case .group: .one("a group of this machine", .never)
            }
        }
    }

    let context: ReadingContext

    /// A word after the address.
    fileprivate enum Option: String, CaseIterable {
        case tls
        case certificate
        case key
        case clients
        case http2
        case h2c
        case `as`
        case socks
        case proxyProtocol = "proxy-protocol"
        case transparent

        /// Whether the word belongs to `tls`.
        var isOfTLS: Bool { [.certificate, .key, .clients, .http2].contains(self) }
    }

    private typealias Options = [ValueParser.Option<ListenerReader.Option>]

    func read(_ directive: Directive<FileDirective>, into draft: inout RuleDraft) {
        guard let value = directive.values.first else { return }
        var isSound = true
        let options = options(directive.values.dropFirst(), isSound: &isSound)
        let tls = tls(options, isSound: isSound)
        let name = options.first { $0.word == .as }.map(client)
        guard let place = place(value, directive.node) else { return }
        if draft.configuration.listeners.contains(where: { $0.isAt(place) }) {
            log.report(at: value.range, "there is already a 'listen' for \(value.shown)")
        }
        var listener = Configuration.Listener(place)
        listener.tls = tls
        listener.client = name ?? nil
        listener.speaksSOCKS = says(.socks, options)
        listener.speaksHTTP2 = says(.h2c, options)
        if let option = options.first(where: { $0.word == .proxyProtocol }) { listener.balancers = balancers(option) }
        listener.isTransparent = says(.transparent, options)
        check(listener, at: value, options, isSound: isSound)
        draft.configuration.listeners.append(listener)
        draft.listeners.append(value.range)
    }

    // MARK: - The place

    private func place(_ value: Value, _ node: SyntaxNode) -> Configuration.Listener.Place? {
        guard value.text.hasPrefix(Self.localPrefix) else {
            if let block = node.block { log.report(at: block.brace, "only 'listen unix:PATH' takes a block") }
            return parse.endpoint(value).map { .network($0) }
        }
        let path = parse.path(value.without(prefix: Self.localPrefix))
        if path.utf8.count > Self.longestPath {
            refuse(
                value, "the path of a socket has at most \(Self.longestPath) bytes, and \(Token.shown(path)) has more")
        }
        var socket = Configuration.Listener.Local(path)
        for inner in context.directives(ListenerReader.Word.self, in: node) {
            guard let value = inner.values.first else { continue }
            switch inner.name {
            case .mode: mode(value).map { socket.mode = $0 }
            case .group: socket.group = value.text
            }
        }
        return .local(socket)
    }

    private static let localPrefix = "unix:"
    /// The room for a path in `sockaddr_un` on Linux, without the zero byte.
    private static let longestPath = 107

    private func mode(_ value: Value) -> UInt32? {
        guard (3...4).contains(value.text.utf8.count), let mode = UInt32(value.text, radix: 8), mode <= 0o777 else {
            refuse(value, "\(value.shown) is not a mode, such as 0600, 0660 or 0666")
            return nil
        }
        if mode & 0o002 != 0 {
            log.report(.warning, at: value.range, "every user of this machine can connect to this socket")
        }
        return mode
    }

    // MARK: - The words after it

    /// Parses the words after the place.
    private func options(_ values: ArraySlice<Value>, isSound: inout Bool) -> Options {
        if let head = values.first, ListenerReader.Option(rawValue: head.text).map(\.isOfTLS) ?? true || head.isQuoted {
            let words = ListenerReader.Option.allCases.filter { !$0.isOfTLS }.map(\.rawValue)
            refuse(
                head,
                "after the address of 'listen' comes 'tls', 'h2c', 'as', 'socks', 'proxy-protocol', 'transparent' or nothing",
                suggestion: Suggestion.nearest(to: head.text, among: words))
            isSound = false
            return []
        }
        let options = parse.options(ListenerReader.Option.self, in: values, isSound: &isSound)
        for (index, option) in options.enumerated() {
            let isAnotherDomain = option.word == .clients && Self.namesDomain(option)
            if !isAnotherDomain, options[..<index].contains(where: { $0.word == option.word }) {
                refuse(option.keyword, "\(option.keyword.shown) is written twice")
            }
        }
        return options
    }

    /// Whether a word that takes no value is there.
    private func says(_ word: ListenerReader.Option, _ options: Options) -> Bool {
        guard let option = options.first(where: { $0.word == word }) else { return false }
        if let extra = option.values.first { refuse(extra, "'\(word.rawValue)' takes no value") }
        return true
    }

    private func tls(_ options: Options, isSound: Bool) -> Configuration.Listener.TLS? {
        guard let head = options.first(where: { $0.word == .tls }) else {
            if let stray = options.first(where: { $0.word.isOfTLS }) {
                refuse(stray.keyword, "\(stray.keyword.shown) belongs after 'tls'")
            }
            return nil
        }
        if let word = head.values.first {
            let words = ListenerReader.Option.allCases.filter(\.isOfTLS).map(\.rawValue)
            refuse(
                word, "\(word.shown) is none of \(words.joined(separator: ", "))",
                suggestion: Suggestion.nearest(to: word.text, among: words))
            return nil
        }
        var certificate: String?
        var key: String?
        var clients: Configuration.Listener.TLS.Clients?
        var offersHTTP2 = true
        for option in options {
            switch option.word {
            case .certificate: certificate = parse.onePath(option)
            case .key:
                key = parse.onePath(option)
                if let key, let value = option.values.first { context.note(keyFile: key, at: value.range) }
            case .clients: add(option, to: &clients)
            case .http2: offersHTTP2 = self.offersHTTP2(option)
            case .tls, .h2c, .as, .socks, .proxyProtocol, .transparent: break
            }
        }
        for needed in [ListenerReader.Option.certificate, .key]
        where isSound && !options.contains(where: { $0.word == needed }) {
            log.report(at: head.keyword.range, "'tls' needs '\(needed.rawValue)' and a path")
        }
        guard let certificate, let key else { return nil }
        return .init(certificate: certificate, key: key, clients: clients, offersHTTP2: offersHTTP2)
    }

    /// Parses `http2 yes` or `http2 no`.
    private func offersHTTP2(_ option: ValueParser.Option<ListenerReader.Option>) -> Bool {
        guard let value = option.values.first else {
            log.report(at: option.keyword.range, "'http2' needs 'yes' or 'no'")
            return false
        }
        if option.values.count > 1 { refuse(option.values[1], "'http2' takes one word, 'yes' or 'no'") }
        return parse.yesOrNo(value) ?? false
    }

    /// Parses `clients PATH [required]` or `clients spiffe DOMAIN PATH [required]`, of which there may be several.
    private func add(
        _ option: ValueParser.Option<ListenerReader.Option>, to clients: inout Configuration.Listener.TLS.Clients?
    ) {
        var option = option
        let isOfDomain = Self.namesDomain(option)
        let name = isOfDomain && option.values.count > 1 ? option.values[1] : nil
        if isOfDomain { option.values.removeFirst(min(2, option.values.count)) }
        let last = option.values.count > 1 ? option.values.last : nil
        let isRequired = last.map { $0.text == "required" && !$0.isQuoted } ?? false
        if isRequired { option.values.removeLast() }
        if option.values.count > 1 {
            refuse(
                option.values[1], "only 'required' can follow the path of 'clients'",
                suggestion: Suggestion.nearest(to: option.values[1].text, among: ["required"]))
        }
        option.values = Array(option.values.prefix(1))
        if let earlier = clients, isOfDomain != (earlier.authorities == nil) {
            return refuse(option.keyword, "'clients' has either one file, or 'spiffe' with a trust domain and its file")
        }
        if let earlier = clients, earlier.isRequired {
            refuse(option.keyword, "write 'required' once, at the end")
        }
        guard isOfDomain else {
            clients = parse.onePath(option).map { .init(authorities: $0, isRequired: isRequired) }
            return
        }
        guard let name, !option.values.isEmpty else {
            return log.report(
                at: option.keyword.range,
                "'clients spiffe' needs a trust domain and a path, such as: example.org td.pem")
        }
        guard SPIFFEID.isTrustDomain(name.text) else {
            return refuse(name, "\(name.shown) is not a trust domain, such as example.org")
        }
        if clients?.domains.contains(where: { $0.name == name.text }) ?? false {
            refuse(name, "the trust domain \(name.shown) is named twice: put its certificates into one file")
        }
        guard let path = parse.onePath(option) else { return }
        clients = clients ?? .init(authorities: nil, isRequired: false)
        clients?.domains.append(.init(name: name.text, authorities: path))
        clients?.isRequired = isRequired
    }

    private static func namesDomain(_ option: ValueParser.Option<ListenerReader.Option>) -> Bool {
        option.values.first.map { $0.text == "spiffe" && !$0.isQuoted } ?? false
    }

    /// Parses `as NAME`.
    private func client(_ option: ValueParser.Option<ListenerReader.Option>) -> String? {
        guard let name = option.values.first else {
            log.report(at: option.keyword.range, "'as' needs a name")
            return nil
        }
        if option.values.count > 1 { refuse(option.values[1], "'as' takes one name") }
        guard !name.text.isEmpty, name.text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else {
            refuse(name, "a name has at least one character, and no control characters")
            return nil
        }
        return name.text
    }

    /// Parses `proxy-protocol from BLOCK …`.
    private func balancers(_ option: ValueParser.Option<ListenerReader.Option>) -> [AddressPrefix] {
        guard let from = option.values.first, from.text == "from", !from.isQuoted, option.values.count > 1 else {
            log.report(
                at: option.values.first?.range ?? option.keyword.range,
                "say which balancers may connect: 'proxy-protocol from' and their addresses, such as 10.0.0.0/8")
            return []
        }
        return option.values.dropFirst().compactMap(parse.prefix)
    }

    /// Checks what the parts of a listener say together.
    private func check(_ listener: Configuration.Listener, at value: Value, _ options: Options, isSound: Bool) {
        let name = options.first { $0.word == .as }
        if case .local = listener.place {
            if let tls = options.first(where: { $0.word == .tls }) {
                refuse(tls.keyword, "a unix socket takes no 'tls': its bytes do not leave this machine")
            }
            if let balancers = options.first(where: { $0.word == .proxyProtocol }) {
                refuse(balancers.keyword, "a unix socket takes no 'proxy-protocol'")
            }
            if name == nil, isSound {
                let place = value.shown.dropFirst().dropLast()
                log.report(at: value.range, "say who the clients of this socket are: listen \(place) as \"NAME\"")
            }
        }
        if listener.isTransparent {
            for option in options where ![.transparent, .as].contains(option.word) && !option.word.isOfTLS {
                refuse(
                    option.keyword,
                    "\(option.keyword.shown) does not go with 'transparent': its clients know of no proxy")
            }
            if case .local = listener.place {
                log.report(at: value.range, "no firewall redirects clients to a unix socket: write an address")
            }
        }
        if let clear = options.first(where: { $0.word == .h2c }), options.contains(where: { $0.word == .tls }) {
            refuse(
                clear.keyword,
                "'h2c' is HTTP/2 without TLS: remove it, because clients of a listener with 'tls' choose HTTP/2 in their "
                    + "handshake")
        }
        if let name, listener.tls?.clients != nil {
            refuse(name.keyword, "'as' and 'clients' both say who the client is: remove one of them")
        }
    }
}

extension Configuration.Listener {
    /// Whether two listeners cannot both be there.
    fileprivate func isAt(_ other: Place) -> Bool {
        switch (place, other) {
        case (.network(let mine), .network(let theirs)): mine == theirs && mine.port != 0
        case (.local(let mine), .local(let theirs)): mine.path == theirs.path
        default: false
        }
    }
}
