import Bytes

/// Reads `listen`.
struct ListenerReader: BlockReader {
    let context: ReadingContext

    func read(_ directive: Directive<FileDirective>, into draft: inout RuleDraft) {
        guard let value = directive.values.first else { return }
        let tls = self.tls(directive.values.dropFirst())
        guard let endpoint = parse.endpoint(value) else { return }
        if draft.configuration.listeners.contains(where: { $0.endpoint == endpoint }), endpoint.port != 0 {
            log.report(at: value.range, "there is already a 'listen' for \(value.shown)")
        }
        draft.configuration.listeners.append(.init(endpoint, tls: tls))
        draft.listeners.append(value.range)
    }

    /// Parses the words after `listen ADDRESS:PORT`.
    private func tls(_ values: ArraySlice<Value>) -> Configuration.Listener.TLS? {
        guard let head = values.first else { return nil }
        guard head.text == "tls", !head.isQuoted else {
            refuse(
                head, "'listen' takes one address, and after it 'tls' or nothing",
                suggestion: Suggestion.nearest(to: head.text, among: ["tls"]))
            return nil
        }
        var certificate: String?
        var key: String?
        var clients: Configuration.Listener.TLS.Clients?
        var isSound = true
        let options = parse.options(ListenerReader.Word.self, in: values.dropFirst(), isSound: &isSound)
        for (index, option) in options.enumerated() {
            if options[..<index].contains(where: { $0.word == option.word }) {
                refuse(option.keyword, "\(option.keyword.shown) is written twice")
            }
            switch option.word {
            case .certificate: certificate = parse.onePath(option)
            case .key:
                key = parse.onePath(option)
                if let key, let value = option.values.first { context.note(keyFile: key, at: value.range) }
            case .clients: clients = self.clients(option)
            }
        }
        for needed in [ListenerReader.Word.certificate, .key]
        where isSound && !options.contains(where: { $0.word == needed }) {
            log.report(at: head.range, "'tls' needs '\(needed.rawValue)' and a path")
        }
        guard let certificate, let key else { return nil }
        return .init(certificate: certificate, key: key, clients: clients)
    }

    /// Parses `clients PATH [required]`.
    private func clients(_ option: ValueParser.Option<ListenerReader.Word>) -> Configuration.Listener.TLS.Clients? {
        var option = option
        let last = option.values.count > 1 ? option.values.last : nil
        let isRequired = last.map { $0.text == "required" && !$0.isQuoted } ?? false
        if isRequired { option.values.removeLast() }
        if option.values.count > 1 {
            refuse(
                option.values[1], "only 'required' can follow the path of 'clients'",
                suggestion: Suggestion.nearest(to: option.values[1].text, among: ["required"]))
        }
        option.values = Array(option.values.prefix(1))
        return parse.onePath(option).map { .init(authorities: $0, isRequired: isRequired) }
    }

    fileprivate enum Word: String, CaseIterable {
        case certificate
        case key
        case clients
    }
}
