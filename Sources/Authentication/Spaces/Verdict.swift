/// What came of the request that was challenged for all.
public enum Verdict: Sendable, Hashable {
    /// It was not challenged.
    case open
    /// Its answer was accepted: the space is known now.
    case accepted
    /// It was challenged and not answered, or refused.
    case unanswered
}
