// SPDX-License-Identifier: Apache-2.0
// The names that a pickle may use without being said to execute code: they build values and do
// nothing else, whatever their arguments. A name is added here only after reading its source.
#include <algorithm>
#include <array>

#include "takt/models/pickle.h"

namespace takt::models {
namespace {

constexpr auto kHarmless = std::to_array<std::string_view>({
    "__builtin__ bytearray",
    "__builtin__ complex",
    "__builtin__ dict",
    "__builtin__ float",
    "__builtin__ frozenset",
    "__builtin__ int",
    "__builtin__ list",
    "__builtin__ object",
    "__builtin__ set",
    "__builtin__ slice",
    "__builtin__ tuple",
    "_codecs encode",
    "builtins bool",
    "builtins bytearray",
    "builtins bytes",
    "builtins complex",
    "builtins dict",
    "builtins float",
    "builtins frozenset",
    "builtins int",
    "builtins list",
    "builtins object",
    "builtins range",
    "builtins set",
    "builtins slice",
    "builtins str",
    "builtins tuple",
    "collections Counter",
    "collections OrderedDict",
    "collections deque",
    "copy_reg _reconstructor",
    "copyreg _reconstructor",
    "datetime date",
    "datetime datetime",
    "datetime timedelta",
    "datetime timezone",
    "decimal Decimal",
    "fractions Fraction",
    "joblib.numpy_pickle NumpyArrayWrapper",
    "numpy dtype",
    "numpy float32",
    "numpy float64",
    "numpy int32",
    "numpy int64",
    "numpy ndarray",
    "numpy._core.multiarray _reconstruct",
    "numpy._core.multiarray scalar",
    "numpy._core.numeric _frombuffer",
    "numpy.core.multiarray _reconstruct",
    "numpy.core.multiarray scalar",
    "numpy.core.numeric _frombuffer",
    "numpy.random._mt19937 MT19937",
    "numpy.random._pcg64 PCG64",
    "numpy.random._pickle __bit_generator_ctor",
    "numpy.random._pickle __generator_ctor",
    "numpy.random._pickle __randomstate_ctor",
    "scipy.sparse._csc csc_array",
    "scipy.sparse._csc csc_matrix",
    "scipy.sparse._csr csr_array",
    "scipy.sparse._csr csr_matrix",
    "torch BFloat16Storage",
    "torch BoolStorage",
    "torch ByteStorage",
    "torch CharStorage",
    "torch DoubleStorage",
    "torch FloatStorage",
    "torch HalfStorage",
    "torch IntStorage",
    "torch LongStorage",
    "torch ShortStorage",
    "torch Size",
    "torch device",
    "torch.storage UntypedStorage",
    "torch._utils _rebuild_parameter",
    "torch._utils _rebuild_tensor",
    "torch._utils _rebuild_tensor_v2",
    "uuid UUID",
    "xgboost.core Booster",
    "xgboost.sklearn XGBClassifier",
    "xgboost.sklearn XGBRegressor",
});

bool has_part(std::string_view module, std::string_view part) {
  return ("." + std::string(module) + ".").find("." + std::string(part) + ".") != std::string::npos;
}

/// scikit-learn's estimators keep values only; its helpers that read files or test do not count.
bool is_estimator(std::string_view module, std::string_view name) {
  if (!module.starts_with("sklearn.")) return false;
  for (const std::string_view part :
       {"datasets", "externals", "tests", "utils", "experimental", "conftest", "_build_utils"})
    if (has_part(module, part)) return module == "sklearn.utils._bunch" && name == "Bunch";
  const bool is_class = !name.empty() && name.front() >= 'A' && name.front() <= 'Z';
  const bool is_maker = name.starts_with("__pyx_unpickle_");
  return (is_class || is_maker) && name.find('.') == std::string_view::npos;
}

}  // namespace

bool is_harmless(std::string_view global) {
  if (std::ranges::find(kHarmless, global) != kHarmless.end()) return true;
  const std::size_t space = global.find(' ');
  return space != std::string_view::npos &&
         is_estimator(global.substr(0, space), global.substr(space + 1));
}

}  // namespace takt::models
