//! Functions of numbers with a fraction, as the C library of this machine computes them. `cbrt` is
//! missing: that of Rust is its own, and its last digit differs.

/// One line for each function: its name in C, and its value for numbers of 32 or of 64 bits.
macro_rules! functions {
    ($($variant:ident $name:literal ($x:ident, $y:ident) $value:expr;)*) => {
        /// A function of one or two floats of one type. Those of one float ignore the second.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Function {
            $(#[doc = concat!("`", $name, "` of C.")] $variant,)*
        }

        impl Function {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Its name in C.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            pub(crate) fn of_f32(self, left: f32, right: f32) -> f32 {
                match self {
                    $(Self::$variant => { let ($x, $y) = (left, right); $value })*
                }
            }

            pub(crate) fn of_f64(self, left: f64, right: f64) -> f64 {
                match self {
                    $(Self::$variant => { let ($x, $y) = (left, right); $value })*
                }
            }
        }
    };
}

functions! {
    Sqrt "sqrt" (x, _y) x.sqrt();
    Floor "floor" (x, _y) x.floor();
    Ceil "ceil" (x, _y) x.ceil();
    Trunc "trunc" (x, _y) x.trunc();
    Round "round" (x, _y) x.round();
    Rint "rint" (x, _y) x.round_ties_even();
    Sin "sin" (x, _y) x.sin();
    Cos "cos" (x, _y) x.cos();
    Tan "tan" (x, _y) x.tan();
    Asin "asin" (x, _y) x.asin();
    Acos "acos" (x, _y) x.acos();
    Atan "atan" (x, _y) x.atan();
    Sinh "sinh" (x, _y) x.sinh();
    Cosh "cosh" (x, _y) x.cosh();
    Tanh "tanh" (x, _y) x.tanh();
    Exp "exp" (x, _y) x.exp();
    Exp2 "exp2" (x, _y) x.exp2();
    Expm1 "expm1" (x, _y) x.exp_m1();
    Log "log" (x, _y) x.ln();
    Log2 "log2" (x, _y) x.log2();
    Log10 "log10" (x, _y) x.log10();
    Log1p "log1p" (x, _y) x.ln_1p();
    Pow "pow" (x, y) x.powf(y);
    Atan2 "atan2" (x, y) x.atan2(y);
    Hypot "hypot" (x, y) x.hypot(y);
    Fmod "fmod" (x, y) x % y;
    Copysign "copysign" (x, y) x.copysign(y);
}

impl Function {
    /// The function of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.name() == name)
    }
}
