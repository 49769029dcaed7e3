/// An optional value that is mostly nil. Destroying nil costs two instructions; for an `Optional` of an object or a text
/// it is a call of the runtime.
@propertyWrapper
public enum Seldom<Value> {
    case none
    case some(Value)
    /// With one empty case the compiler takes its bits for an object that it may release.
    case never

    @inline(__always)
    public init() { self = .none }

    @inline(__always)
    public var wrappedValue: Value? {
        get { if case .some(let value) = self { value } else { nil } }
        set { if let newValue { self = .some(newValue) } else { self = .none } }
    }
}
