import Bytes

/// Reads `admin`.
struct AdminReader: BlockReader {
    enum Word: String, DirectiveName {
        case users
        case metrics
        case certificate
        case key

        static let block: String? = "admin"

        var grammar: DirectiveGrammar {
            switch self {
            case .users: .one("'file' and a path", .atUse)
            case .metrics: .some("'token file' and a path", .atUse)
            case .certificate, .key: .one("a path", .path)
            }
        }
    }

    let context: ReadingContext

    func read(_ directive: Directive<FileDirective>, into draft: inout RuleDraft) {
        guard let head = directive.values.first else { return }
        if directive.values.count > 1 { refuse(directive.values[1], "'admin' takes one address") }
        draft.configuration.admin = parse.endpoint(head)
        draft.admin = head.range
        var certificate: String?
        var key: String?
        for inner in context.directives(AdminReader.Word.self, in: directive.node) {
            guard let value = inner.values.first else { continue }
            switch inner.name {
            case .users:
                if case .file(let path) = value.source {
                    draft.configuration.adminLogin.users = path
                } else {
                    refuse(value, "write 'users file' and the path of the users file")
                }
            case .metrics:
                if value.text == "token", inner.values.count == 2, case .file(let path) = inner.values[1].source {
                    draft.configuration.adminLogin.metricsToken = path
                } else {
                    refuse(value, "write 'metrics token file' and the path of a file with the token")
                }
            case .certificate: certificate = parse.path(value)
            case .key: key = context.keyFile(value)
            }
        }
        if let certificate, let key {
            draft.configuration.adminLogin.tls = .init(certificate: certificate, key: key, clients: nil)
        } else if certificate != nil || key != nil {
            log.report(at: head.range, "'certificate' and 'key' belong together")
        }
        checkUsers(draft, at: head)
    }

    private func checkUsers(_ draft: RuleDraft, at head: Value) {
        guard draft.configuration.adminLogin.users != nil, draft.configuration.adminLogin.tls == nil,
            let admin = draft.configuration.admin, !admin.address.isLoopback
        else { return }
        log.report(
            at: head.range,
            "passwords would be sent unencrypted to this address: add 'certificate' and 'key', or use a loopback address"
        )
    }
}
