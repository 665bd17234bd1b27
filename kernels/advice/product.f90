! A matrix product in Fortran, written as one would in C. Arrays lie the other way round: the first index is the near
! one. Along k, b is near and a is not; along i, a and c are near and b stays. So i belongs inside.
!
! advice: run 24
program product
  implicit none
  real(8), allocatable :: a(:, :), b(:, :), c(:, :)
  character(8) :: argument
  integer :: n, i, j
  call get_command_argument(1, argument)
  read (argument, *) n
  allocate (a(n, n), b(n, n), c(n, n))
  do j = 1, n
    do i = 1, n
      a(i, j) = mod(i * 3 + j, 7)
      b(i, j) = mod(i + j * 5, 11)
      c(i, j) = 0
    end do
  end do
  call multiply(n, a, b, c)
  print *, sum(c)
contains
  subroutine multiply(n, a, b, c)
    integer, intent(in) :: n
    real(8), intent(in) :: a(n, n), b(n, n)
    real(8), intent(inout) :: c(n, n)
    integer :: i, j, k
    ! expect-advice: tile_depth 3; skew no; parallel_ops >= 95; tilable_ops >= 90; potential_reuse >= 95
    ! expect-advice: reuse 45..80; interchange i k; suggests LF-ICH i k; suggests LF-PAR i; never LF-SKW
    do i = 1, n  ! expect: parallel
      do j = 1, n  ! expect: parallel
        do k = 1, n  ! expect: reduction(+)
          c(i, j) = c(i, j) + a(i, k) * b(k, j)
        end do
      end do
    end do
  end subroutine
end program
