//! Wide registers where the processor has them, in a binary that runs where it has not.

/// Runs `work` in code for wide registers if the processor has them, and in code for any processor if not. Multiplications and
/// additions stay apart, so that the bits are the same. What `work` calls is part of that code only where it is inlined.
#[inline(always)]
pub(crate) fn wide<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has just been asked.
        return unsafe { in_avx2(work) };
    }
    work()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn in_avx2<R>(work: impl FnOnce() -> R) -> R {
    work()
}
