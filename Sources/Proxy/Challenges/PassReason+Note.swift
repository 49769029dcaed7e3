import Authentication

extension PassReason {
    /// What `Proxy-Status` says of a challenge that the client gets: only where it was ours to answer.
    var note: String? {
        switch self {
        case .nothingToAnswer, .defaultHandling, .rejected: nil
        case .attemptsUsed, .alreadyRefused, .parked, .undecided, .unanswerable, .aborted, .denied, .endless:
            description
        }
    }
}
