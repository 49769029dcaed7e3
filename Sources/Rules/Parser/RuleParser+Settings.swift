import Bytes

extension RuleParser {
    func limits(_ node: SyntaxNode) {
        for directive in directives(LimitsDirective.self, in: node) {
            guard let value = directive.values.first else { continue }
            let path: WritableKeyPath<Configuration.Limits, Int>
            let number: Int?
            switch directive.name {
            case .replayMemory: (path, number) = (\.replayMemory, size(value, 0...1 << 30))
            case .replayDisk: (path, number) = (\.replayDisk, size(value, 0...1 << 40))
            case .replayDiskTotal: (path, number) = (\.replayDiskTotal, size(value, 0...1 << 40))
            case .startLine: (path, number) = (\.startLine, size(value, 256...1 << 20))
            case .head: (path, number) = (\.head, size(value, 1 << 10...1 << 20))
            case .upstreamHead: (path, number) = (\.upstreamHead, size(value, 1 << 10...1 << 24))
            case .fields: (path, number) = (\.fields, self.number(value, 8...1024))
            case .clientsPerAddress:
                configuration.limits.clientsPerAddress = self.number(value, 1...1_000_000)
                continue
            case .clients: (path, number) = (\.clients, self.number(value, 1...1_000_000))
            case .decodeRatio: (path, number) = (\.decodeRatio, self.number(value, 1...1_000_000))
            }
            if let number { configuration.limits[keyPath: path] = number }
        }
    }

    func timeouts(_ node: SyntaxNode) {
        for directive in directives(TimeoutsDirective.self, in: node) {
            guard let value = directive.values.first, let duration = duration(value) else { continue }
            switch directive.name {
            case .head: configuration.timeouts.head = duration
            case .idle: configuration.timeouts.idle = duration
            case .connect: configuration.timeouts.connect = duration
            case .response: configuration.timeouts.response = duration
            case .drain: configuration.timeouts.drain = duration
            case .session: configuration.timeouts.session = duration
            }
        }
    }

    func reference(_ name: String?, _ node: SyntaxNode) -> RuleReference {
        let file = sources.file(node.name.range.file)
        let line = file?.line(of: node.name.range.bytes.lowerBound) ?? 0
        return RuleReference(name: name, file: file?.path ?? "", line: line)
    }
}
