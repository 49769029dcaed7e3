/// Turns directives into a `Configuration`. It continues after an error, so that one run shows them all; if there is an
/// error, the result is dropped.
///
/// Each kind of block has its own reader, with the directives that it allows. `RuleChecks` has the checks that need the
/// whole file.
struct RuleParser {
    private let context: ReadingContext
    private var draft = RuleDraft()

    init(reader: any SourceReader, sources: SourceMap, log: Diagnostic.Log) {
        context = ReadingContext(
            reader: reader, sources: sources, log: log, top: FileDirective.self,
            blocks: [
                SettingsReader.LimitsWord.self, SettingsReader.TimeoutsWord.self, ClientsReader.Word.self,
                EgressReader.Word.self, CredentialDirective.self, AuthorityReader.Word.self, RouteReader.Word.self,
                ChallengeDirective.self, FormReader.Word.self, ParentReader.Word.self, StoreReader.Word.self,
                AskReader.Word.self, AdminReader.Word.self, TracesReader.Word.self, ListenerReader.Word.self,
            ])
    }

    mutating func parse(_ nodes: [SyntaxNode]) -> Configuration {
        var isFirst = true
        var rest = nodes
        var seen: [FileDirective: SourceRange] = [:]
        while !rest.isEmpty {
            let directives = context.directives(FileDirective.self, in: rest, isClosed: true, seen: &seen)
            if isFirst, directives.contains(where: { $0.name == .listen }) { draft.configuration.listeners = [] }
            isFirst = false
            for directive in directives { accept(directive) }
            rest = context.takeStrays()
        }
        draft.configuration.secretVariables = context.secretVariables
        RuleChecks(context: context).check(&draft)
        return draft.configuration
    }

    private mutating func accept(_ directive: Directive<FileDirective>) {
        let settings = SettingsReader(context: context)
        switch directive.name {
        case .listen: ListenerReader(context: context).read(directive, into: &draft)
        case .admin: AdminReader(context: context).read(directive, into: &draft)
        case .threads: settings.threads(directive).map { draft.configuration.threads = $0 }
        case .state: draft.configuration.state = directive.values.first.map(context.parse.path)
        case .log: settings.accessLog(directive, into: &draft.configuration.log)
        case .limits: settings.limits(directive.node, into: &draft.configuration.limits)
        case .timeouts: settings.timeouts(directive.node, into: &draft.configuration.timeouts)
        case .clients: ClientsReader(context: context).read(directive.node, into: &draft.configuration.clients)
        case .egress: EgressReader(context: context).read(directive.node, into: &draft)
        case .credential: CredentialReader(context: context).read(directive, into: &draft)
        case .route: RouteReader(context: context).read(directive, into: &draft)
        case .challenge: ChallengeReader(context: context).read(directive, into: &draft)
        case .authority: AuthorityReader(context: context).read(directive.node, into: &draft.configuration.authority)
        case .store: StoreReader(context: context).read(directive).map { draft.configuration.store = $0 }
        case .parent: ParentReader(context: context).read(directive, into: &draft)
        case .mode:
            directive.values.first.flatMap { context.parse.keyword($0, Configuration.Mode.self) }
                .map { draft.configuration.mode = $0 }
        case .traces:
            TracesReader(context: context).read(directive).map { draft.configuration.traces = $0 }
            draft.traces = directive.node.name.range
        case .ask: AskReader(context: context).read(directive).map { draft.configuration.webhook = $0 }
        }
    }
}
