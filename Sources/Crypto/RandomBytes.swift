import COpenSSL

public enum RandomBytes {
    /// `count` bytes nobody can guess.
    public static func make(_ count: Int) throws(CryptoError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let made = bytes.withUnsafeMutableBufferPointer { RAND_bytes($0.baseAddress, Int32($0.count)) }
        guard made == 1 else {
            ERR_clear_error()
            throw .noRandomness
        }
        return bytes
    }
}
