/// An optional value that is mostly nil. Destroying nil is a comparison; for an `Optional` of an object or a text it is a
/// call of the runtime.
@propertyWrapper
public enum Seldom<Value> {
    case none
    case some(Value)
    /// A second empty case. With one alone, the compiler releases nil as if it were an object.
    case never

    @inline(__always)
    public init() { self = .none }

    @inline(__always)
    public var wrappedValue: Value? {
        get { if case .some(let value) = self { value } else { nil } }
        set { if let newValue { self = .some(newValue) } else { self = .none } }
    }
}
