enum LimitsDirective: String, DirectiveName {
    case replayMemory = "replay-memory"
    case replayDisk = "replay-disk"
    case replayDiskTotal = "replay-disk-total"
    case startLine = "start-line"
    case head
    case upstreamHead = "upstream-head"
    case fields
    case clients
    case clientsPerAddress = "clients-per-address"
    case decodeRatio = "decode-ratio"

    static let block: String? = "limits"

    var grammar: DirectiveGrammar {
        switch self {
        case .replayMemory, .replayDisk, .replayDiskTotal, .startLine, .head, .upstreamHead:
            .one("a size such as 64k, 64m or 1g")
        case .fields, .clients, .clientsPerAddress, .decodeRatio: .one("a number")
        }
    }
}
