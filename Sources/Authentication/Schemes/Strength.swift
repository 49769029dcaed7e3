/// The order in which challenges are tried when no rule orders them.
public enum Strength {
    public static let basic = 100
    /// The password is sent once for many requests.
    public static let form = 150
    public static let bearer = 200
    public static let digestMD5 = 300
    public static let digestSHA256 = 400
    public static let digestSHA512t256 = 500
    public static let ntlm = 600
    public static let negotiate = 700
}
