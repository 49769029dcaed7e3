import Model

/// Reads `ask`.
struct AskReader: BlockReader {
    enum Word: String, DirectiveName {
        case key

        static let block: String? = "ask"

        var grammar: DirectiveGrammar { .one("'file' and a path, or 'env' and a name", .atUse) }
    }

    let context: ReadingContext

    func read(_ directive: Directive<FileDirective>) -> Configuration.Webhook? {
        let words = directive.values
        guard let first = words.first else { return nil }
        guard first.text == "webhook", words.count == 2 else {
            log.report(at: first.range, "'ask' takes 'webhook' and a URL such as https://chat.example.com/hook")
            return nil
        }
        let said = context.directives(AskReader.Word.self, in: directive.node).first?.values.first
        let key = said.flatMap { parse.reference($0, to: "a key") }
        guard directive.node.block?.nodes.contains(where: { $0.name.text == AskReader.Word.key.rawValue }) == true
        else {
            log.report(
                at: first.range, "'ask webhook' needs a block with 'key', so that the receiver can check the sender")
            return nil
        }
        guard let endpoint = HTTPEndpoint(words[1].text) else {
            refuse(words[1], "\(words[1].shown) is not a URL such as https://chat.example.com/hook")
            return nil
        }
        guard parse.isSafe(endpoint, words[1], "a webhook") else { return nil }
        return key.map { Configuration.Webhook(endpoint: endpoint, key: $0) }
    }
}
