# The page "From R" of the manual; `Rscript tools/vignette.R` runs it where R and reticulate are installed.
# --- fit
library(reticulate)
# use_virtualenv("ksupport")
ks <- import("ksupport")

set.seed(1)
X <- matrix(rnorm(100 * 200), 100)
X[, 4] <- X[, 1] + 0.05 * rnorm(100)  # nearly the first column again
y <- 3 * X[, 1] - 2 * X[, 2] + 2 * X[, 3] + rnorm(100)

model <- ks$AutoIRKSN()$fit(X, y)
cat(model$decision_, "\n")

which(model$support_)  # the features chosen
head(order(-model$probability_), 5)  # the most probable ones
# columns that stand in for each other:
lapply(model$sets_, function(set) unlist(set$features) + 1)

predicted <- model$predict(X)
cor(predicted, y)
# --- end
stopifnot(all(2:3 %in% which(model$support_)), any(c(1, 4) %in% which(model$support_)), cor(predicted, y) > 0.9)
