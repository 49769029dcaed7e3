/// How a request goes about what is not known yet.
public enum Admission: Sendable {
    /// Send it as it is: nothing here was seen to ask for a credential.
    case proceed
    /// Send it, and tell the others.
    case lead(Lease)
    /// Somebody else is asking, and for too long: send it, and tell the others.
    case overtake
    /// Somebody else is asking: await the outcome.
    case wait(Waiter)
}
