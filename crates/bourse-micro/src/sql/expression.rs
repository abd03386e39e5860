//! Expressions of `\set`, as in pgbench's scripts: numbers, variables, arithmetic, functions, random numbers.
//!
//! Sources: PostgreSQL's documentation of pgbench, "Built-in Functions"; for Zipf's distribution L. Devroye, *Non-Uniform Random
//! Variate Generation* (1986), chapter X.6.1, the algorithm that pgbench uses too.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use super::draw::Literal;
use super::pieces::{Pieces, TextPiece};
use bourse_record::SplitMix;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Maximum depth of an expression's parentheses, and of its words, numbers and signs: it is read and evaluated by recursion.
const MOST_DEPTH: usize = 50;
const MOST_TOKENS: usize = 500;

/// Form of what depends on a condition.
pub(super) const BRANCHES: &str = "write a script for each branch, and give their shares, as a.sql@3,b.sql@1";

/// An expression; its value is a number.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expression {
    Number(Number),
    /// Value of the parameter with this number in the file.
    Parameter(usize),
    /// Number of the user, from 0.
    User,
    Call(&'static Function, Vec<Expression>),
}

/// A value: integers remain integers until they meet a floating-point number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Int(i64),
    Real(f64),
}
use Number::{Int, Real};

impl Number {
    fn real(self) -> f64 {
        match self {
            Int(number) => number as f64,
            Real(number) => number,
        }
    }

    fn int(self) -> Result<i64, String> {
        match self {
            Int(number) => Ok(number),
            Real(number) => Err(format!("{number} where an integer is expected: int({number})")),
        }
    }

    /// Value for a statement.
    pub(super) fn literal(self) -> Literal {
        match self {
            Int(number) => Literal::Int(number),
            Real(number) => Literal::Real(number),
        }
    }
}

/// A function of an expression; operators are functions too.
#[derive(Debug)]
pub(super) struct Function {
    name: &'static str,
    arguments: RangeInclusive<usize>,
    apply: fn(&[Number], &mut SplitMix) -> Result<Number, String>,
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// Every function that an expression may call.
static FUNCTIONS: [Function; 21] = [
    function("+", 2..=2, |n, _| arithmetic(n, i64::checked_add, |a, b| a + b)),
    function("-", 2..=2, |n, _| arithmetic(n, i64::checked_sub, |a, b| a - b)),
    function("*", 2..=2, |n, _| arithmetic(n, i64::checked_mul, |a, b| a * b)),
    function("/", 2..=2, |n, _| divisible(n).and_then(|()| arithmetic(n, i64::checked_div, |a, b| a / b))),
    function("%", 2..=2, |n, _| divisible(n).and_then(|()| remainder(n))),
    function("mod", 2..=2, |n, _| divisible(n).and_then(|()| remainder(n))),
    function("abs", 1..=1, |n, _| match argument(n, 0) {
        Int(a) => a.checked_abs().map(Int).ok_or_else(out_of_range),
        Real(a) => Ok(Real(a.abs())),
    }),
    function("double", 1..=1, |n, _| Ok(Real(argument(n, 0).real()))),
    function("int", 1..=1, |n, _| match argument(n, 0) {
        Real(a) if a.abs() >= i64::MAX as f64 || a.is_nan() => Err(out_of_range()),
        Real(a) => Ok(Int(a.round_ties_even() as i64)),
        int => Ok(int),
    }),
    function("exp", 1..=1, |n, _| Ok(Real(argument(n, 0).real().exp()))),
    function("ln", 1..=1, |n, _| Ok(Real(argument(n, 0).real().ln()))),
    function("sqrt", 1..=1, |n, _| Ok(Real(argument(n, 0).real().sqrt()))),
    function("pi", 0..=0, |_, _| Ok(Real(std::f64::consts::PI))),
    function("pow", 2..=2, |n, _| Ok(Real(argument(n, 0).real().powf(argument(n, 1).real())))),
    function("power", 2..=2, |n, _| Ok(Real(argument(n, 0).real().powf(argument(n, 1).real())))),
    function("least", 1..=99, |n, _| Ok(chosen(n, |a, b| a < b))),
    function("greatest", 1..=99, |n, _| Ok(chosen(n, |a, b| a > b))),
    function("random", 2..=2, |n, random| {
        let (low, width) = range(n)?;
        Ok(Int(low.wrapping_add_unsigned(random.below(width))))
    }),
    function("random_gaussian", 3..=3, |n, random| {
        let shape = shape(n, 2.0..=f64::MAX)?;
        let normal = loop {
            let normal = random.normal();
            if -shape <= normal && normal < shape {
                break normal;
            }
        };
        at_share(n, (normal + shape) / (shape * 2.0))
    }),
    function("random_exponential", 3..=3, |n, random| {
        let shape = shape(n, f64::MIN_POSITIVE..=f64::MAX)?;
        let cut = (-shape).exp();
        at_share(n, -(cut + (1.0 - cut) * (1.0 - random.unit())).ln() / shape)
    }),
    function("random_zipfian", 3..=3, |n, random| {
        let (low, width) = range(n)?;
        let shape = shape(n, 1.001..=1000.0)?;
        let (b, width) = (2f64.powf(shape - 1.0), width as f64);
        loop {
            let (u, v) = (1.0 - random.unit(), random.unit());
            let x = u.powf(-1.0 / (shape - 1.0)).floor();
            let t = (1.0 + 1.0 / x).powf(shape - 1.0);
            if v * x * (t - 1.0) / (b - 1.0) <= t / b && x <= width {
                return Ok(Int(low.wrapping_add_unsigned(x as u64 - 1)));
            }
        }
    }),
];

const fn function(
    name: &'static str,
    arguments: RangeInclusive<usize>,
    apply: fn(&[Number], &mut SplitMix) -> Result<Number, String>,
) -> Function {
    Function { name, arguments, apply }
}

/// Argument number `at`; a call has as many as its function declares.
fn argument(numbers: &[Number], at: usize) -> Number {
    numbers.get(at).copied().unwrap_or(Int(0))
}

fn out_of_range() -> String {
    "the value is out of range".to_owned()
}

fn arithmetic(
    numbers: &[Number],
    ints: fn(i64, i64) -> Option<i64>,
    reals: fn(f64, f64) -> f64,
) -> Result<Number, String> {
    match (argument(numbers, 0), argument(numbers, 1)) {
        (Int(a), Int(b)) => ints(a, b).map(Int).ok_or_else(out_of_range),
        (a, b) => Ok(Real(reals(a.real(), b.real()))),
    }
}

/// Refuses zero as the divisor of an integer; a floating-point number has an infinite quotient.
fn divisible(numbers: &[Number]) -> Result<(), String> {
    match (argument(numbers, 0), argument(numbers, 1)) {
        (Int(_), Int(0)) => Err("division by zero".to_owned()),
        _ => Ok(()),
    }
}

fn remainder(numbers: &[Number]) -> Result<Number, String> {
    let (a, b) = (argument(numbers, 0).int()?, argument(numbers, 1).int()?);
    a.checked_rem(b).map(Int).ok_or_else(out_of_range)
}

/// The argument that is ahead of every other.
fn chosen(numbers: &[Number], is_ahead: fn(f64, f64) -> bool) -> Number {
    let ahead = |a: Number, b: Number| if is_ahead(b.real(), a.real()) { b } else { a };
    numbers.iter().copied().reduce(ahead).unwrap_or(Int(0))
}

/// Lower bound of a random number, and how many numbers there are from it to the upper bound.
fn range(numbers: &[Number]) -> Result<(i64, u64), String> {
    let (low, high) = (argument(numbers, 0).int()?, argument(numbers, 1).int()?);
    let width = high.abs_diff(low).checked_add(1).filter(|_| low <= high);
    width.map(|width| (low, width)).ok_or_else(|| format!("from {low} to {high} there is no number, or too many"))
}

/// Third argument of a random function, within these bounds.
fn shape(numbers: &[Number], bounds: RangeInclusive<f64>) -> Result<f64, String> {
    let shape = argument(numbers, 2).real();
    let fault = || format!("the third argument is {shape}: at least {} is expected", bounds.start());
    bounds.contains(&shape).then_some(shape).ok_or_else(fault)
}

/// The integer at that share, from 0 to 1, of the range that the first two arguments bound.
fn at_share(numbers: &[Number], share: f64) -> Result<Number, String> {
    let (low, width) = range(numbers)?;
    let at = (width as f64 * share) as u64;
    Ok(Int(low.wrapping_add_unsigned(at.min(width.saturating_sub(1)))))
}

impl Expression {
    /// An integer; beyond the range of those its maximum.
    pub(super) fn int(number: u64) -> Self {
        Self::Number(Int(i64::try_from(number).unwrap_or(i64::MAX)))
    }

    /// Parses an expression; `variable` finds a variable by its name.
    pub(super) fn parse(text: &str, variable: &dyn Fn(&str) -> Option<Self>) -> Result<Self, String> {
        let tokens: Vec<_> = Pieces::of(text).filter(|piece| piece.is_executed()).take(MOST_TOKENS + 1).collect();
        if tokens.len() > MOST_TOKENS {
            return Err(format!("the expression has more than {MOST_TOKENS} words, numbers and signs"));
        }
        let mut parser = Parser { tokens, at: 0, depth: 0, variable };
        let expression = parser.sum()?;
        parser.next().map_or(Ok(expression), |left| {
            Err(format!("{:?} is not understood here: operators are + - * / %", left.text()))
        })
    }

    /// Evaluates the expression; `values` are those of the file's parameters.
    pub(super) fn value(&self, values: &[Literal], user: usize, random: &mut SplitMix) -> Result<Number, String> {
        let found = match self {
            Self::Number(number) => *number,
            Self::User => Int(user as i64),
            Self::Parameter(number) => match values.get(*number) {
                Some(Literal::Int(value)) => Int(*value),
                Some(Literal::Real(value)) => Real(*value),
                _ => return Err("a text where a number is expected".to_owned()),
            },
            Self::Call(function, arguments) => {
                let numbers = arguments.iter().map(|argument| argument.value(values, user, random));
                let numbers: Vec<_> = numbers.collect::<Result<_, _>>()?;
                (function.apply)(&numbers, random).map_err(|fault| format!("{}: {fault}", function.name))?
            }
        };
        if matches!(found, Real(number) if !number.is_finite()) { Err(out_of_range()) } else { Ok(found) }
    }

    /// Adds the numbers of the parameters that the expression reads.
    pub(super) fn add_parameters(&self, into: &mut BTreeSet<usize>) {
        match self {
            Self::Parameter(number) => {
                into.insert(*number);
            }
            Self::Call(_, arguments) => arguments.iter().for_each(|argument| argument.add_parameters(into)),
            Self::Number(_) | Self::User => {}
        }
    }
}

/// Parser by recursive descent: a sum of products of signed values.
struct Parser<'t> {
    tokens: Vec<TextPiece<'t>>,
    at: usize,
    depth: usize,
    variable: &'t dyn Fn(&str) -> Option<Expression>,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<TextPiece<'t>> {
        self.tokens.get(self.at).copied()
    }

    fn next(&mut self) -> Option<TextPiece<'t>> {
        let token = self.peek();
        self.at = self.at.saturating_add(1);
        token
    }

    /// Takes the next token if it is this one.
    fn takes(&mut self, text: &str) -> bool {
        let takes = self.peek().is_some_and(|token| token.text() == text);
        self.at = self.at.saturating_add(usize::from(takes));
        takes
    }

    fn sum(&mut self) -> Result<Expression, String> {
        self.depth = self.depth.saturating_add(1);
        if self.depth > MOST_DEPTH {
            return Err(format!("the expression is deeper than {MOST_DEPTH}"));
        }
        let sum = self.chain(&["+", "-"], &|parser| parser.chain(&["*", "/", "%"], &Self::signed))?;
        self.depth = self.depth.saturating_sub(1);
        Ok(sum)
    }

    /// Values with these operators between them, from left to right.
    fn chain(
        &mut self,
        operators: &[&'static str],
        operand: &dyn Fn(&mut Self) -> Result<Expression, String>,
    ) -> Result<Expression, String> {
        let mut left = operand(self)?;
        while let Some(&operator) = operators.iter().find(|operator| self.takes(operator)) {
            left = call(operator, vec![left, operand(self)?])?;
        }
        Ok(left)
    }

    fn signed(&mut self) -> Result<Expression, String> {
        let is_negative = self.takes("-");
        let value = self.single()?;
        if is_negative { call("-", vec![Expression::Number(Int(0)), value]) } else { Ok(value) }
    }

    fn single(&mut self) -> Result<Expression, String> {
        match self.next() {
            Some(TextPiece::Parameter(name)) => {
                let name = name.trim_start_matches(':');
                (self.variable)(name).ok_or_else(|| {
                    format!("`:{name}` is not set before: \\set {name} VALUE above it, as for pgbench's -D")
                })
            }
            Some(TextPiece::Other("(")) => {
                let inner = self.sum()?;
                self.takes(")").then_some(inner).ok_or_else(|| "a ( has no end".to_owned())
            }
            Some(TextPiece::Word(word)) if word.starts_with(|first: char| first.is_ascii_digit()) => self.number(word),
            Some(TextPiece::Word(name)) => {
                if name.eq_ignore_ascii_case("case") {
                    return Err(format!("{name:?} cannot be evaluated: {BRANCHES}"));
                }
                if !self.takes("(") {
                    return Err(format!("{name:?} is no number, variable or function"));
                }
                let mut arguments = Vec::new();
                while !self.takes(")") {
                    if !arguments.is_empty() && !self.takes(",") {
                        return Err(format!("the ( of {name} has no end"));
                    }
                    arguments.push(self.sum()?);
                }
                call(name, arguments)
            }
            Some(other) => Err(format!("{:?} where a value is expected", other.text())),
            None => Err("a value is expected at its end".to_owned()),
        }
    }

    /// The number that begins with that word; its fraction is a token of its own.
    fn number(&mut self, word: &str) -> Result<Expression, String> {
        let mut text = word.to_owned();
        let is_real = self.takes(".");
        if is_real {
            let fraction = self.next().map_or("", TextPiece::text);
            text = format!("{text}.{fraction}");
        }
        let number = text.parse().map(Int).or_else(|_| text.parse().map(Real));
        number.map(Expression::Number).map_err(|_| format!("{text:?} is no number"))
    }
}

/// A call of the function with that name.
fn call(name: &str, arguments: Vec<Expression>) -> Result<Expression, String> {
    let Some(function) = FUNCTIONS.iter().find(|function| function.name.eq_ignore_ascii_case(name)) else {
        let known: Vec<_> = FUNCTIONS.iter().map(|function| function.name).collect();
        return Err(format!("{name} is no function that can be evaluated; known: {}", known.join(" ")));
    };
    if !function.arguments.contains(&arguments.len()) {
        return Err(format!("{name} has {} arguments, {} expected", arguments.len(), function.arguments.start()));
    }
    Ok(Expression::Call(function, arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<Number, String> {
        let variable = |name: &str| (name == "a").then_some(Expression::Parameter(0));
        Expression::parse(text, &variable)?.value(&[Literal::Int(7)], 3, &mut SplitMix::new(1))
    }

    #[test]
    fn expressions_have_the_values_that_pgbench_gives_them() {
        let check = |text: &str, expected: Number| assert_eq!(value(text), Ok(expected), "{text}");
        check("1 + 2 * 3", Int(7));
        check("(1 + 2) * 3", Int(9));
        check("-5 / 2", Int(-2));
        check("17 % 5 - 1", Int(1));
        check(":a * 100 - 1", Int(699));
        check("int(5.4 + 3.8)", Int(9));
        check("double(5432) / 2", Real(2716.0));
        check("greatest(5, 4, 3, 2)", Int(5));
        check("least(5, 4, 3, 2.1)", Real(2.1));
        check("mod(54, 32)", Int(22));
        check("power(2.0, 10)", Real(1024.0));
        check("1e3", Real(1000.0));
        check("abs(-17)", Int(17));
    }

    #[test]
    fn faults_of_expressions_are_named() {
        let check = |text: &str, expected: &str| {
            let fault = value(text).unwrap_err();
            assert!(fault.contains(expected), "{}: {fault}", &text[..text.len().min(40)]);
        };
        check("1 / 0", "/: division by zero");
        check("7 % 0", "%: division by zero");
        check("9223372036854775807 + 1", "out of range");
        check("ln(0)", "out of range");
        check(":b", "`:b` is not set before: \\set b VALUE above it, as for pgbench's -D");
        check("case when 1 then 2 end", &format!("\"case\" cannot be evaluated: {BRANCHES}"));
        check("1 +", "a value is expected at its end");
        check("(1", "a ( has no end");
        check("random(1", "the ( of random has no end");
        check("random(1)", "random has 1 arguments, 2 expected");
        check("permute(1, 2)", "permute is no function that can be evaluated; known: + -");
        check("random(2, 1)", "from 2 to 1 there is no number");
        check("random_gaussian(1, 9, 1)", "the third argument is 1: at least 2 is expected");
        check("1 2", "\"2\" is not understood here: operators are + - * / %");
        check(&"(".repeat(100), "deeper than 50");
        // A sum is as deep as it is long.
        check(&"1 + ".repeat(100_000), "more than 500 words, numbers and signs");
        check(&"(".repeat(100_000), "more than 500 words, numbers and signs");
        check("- - 1", "\"-\" where a value is expected");
        check("5 % 2.0", "2 where an integer is expected");
    }

    /// Shares by the distributions' own formulas, as in the documentation of pgbench.
    #[test]
    fn random_numbers_have_their_distributions() {
        const DRAWS: usize = 200_000;
        let counted = |text: &str| {
            let expression = Expression::parse(text, &|_| None).unwrap();
            let mut random = SplitMix::new(5);
            let mut counts = [0.0; 11];
            for _ in 0..DRAWS {
                let Int(drawn) = expression.value(&[], 0, &mut random).unwrap() else { panic!("{text}") };
                counts[drawn as usize] += 1.0 / DRAWS as f64;
            }
            counts
        };
        let check = |text: &str, share: &dyn Fn(f64) -> f64| {
            let counts = counted(text);
            assert_eq!(counts[0], 0.0, "{text}");
            for (k, found) in (1..=10).map(|k| (k as f64, counts[k])) {
                assert!((found - share(k)).abs() < 0.006, "{text}: {k} in {found} for {}", share(k));
            }
        };
        check("random(1, 10)", &|_| 0.1);
        let harmonic: f64 = (1..=10).map(|k| f64::from(k).powf(-1.5)).sum();
        check("random_zipfian(1, 10, 1.5)", &|k| k.powf(-1.5) / harmonic);
        let exponential = |k: f64| (-(k - 1.0) * 0.3).exp() - (-k * 0.3).exp();
        check("random_exponential(1, 10, 3.0)", &|k| exponential(k) / (1.0 - (-3f64).exp()));
        let symmetric = counted("random_gaussian(1, 10, 2.5)");
        for k in 1..=5 {
            assert!((symmetric[k] - symmetric[11 - k]).abs() < 0.006, "{symmetric:?}");
            assert!(k == 5 || symmetric[k] < symmetric[k + 1], "{symmetric:?}");
        }
        // The share within one standard deviation of 2.5 to each side: 4 of 10 numbers.
        assert!((symmetric[4..=7].iter().sum::<f64>() - 0.6827 / 0.9876).abs() < 0.01, "{symmetric:?}");
    }
}
